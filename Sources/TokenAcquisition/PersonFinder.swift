/// Finds the user for one request: at most once, and only if nothing else helps, because looking takes time.
actor PersonFinder {
    /// Whether somebody may be there, as far as that shows without looking.
    nonisolated let mayFind: Bool
    private let find: @Sendable () async -> TokenAcquirer.Person?
    private var found: TokenAcquirer.Person??

    init(mayFind: Bool, _ find: @escaping @Sendable () async -> TokenAcquirer.Person?) {
        self.mayFind = mayFind
        self.find = find
    }

    /// The user; nil if nobody can be asked.
    var person: TokenAcquirer.Person? {
        get async {
            if let found { return found }
            let person = mayFind ? await find() : nil
            found = .some(person)
            return person
        }
    }
}
