public import TokenAcquisition
public import TokenStore

/// What is stored of tokens and accounts, secrets included.
public struct Listing: Sendable {
    /// What one search of the keyring found.
    public let records: StoredRecords
    private let acquirer: TokenAcquirer

    init(_ records: StoredRecords, _ acquirer: TokenAcquirer) {
        self.records = records
        self.acquirer = acquirer
    }

    /// Whose they are, and which account is used where; looks for the plugins, which say what hosts belong together.
    public var accounts: AccountOverview { acquirer.accounts(among: records) }
}

extension CredentialEngine {
    /// Lists the passwords that were stored under labels of their own.
    func labels(beginningWith prefix: String) throws(Refusal) -> [String: String] {
        let passwords = try readSources().passwords
        do throws(StoreError) { return try passwords.labelled(prefix) } catch { throw .store(error) }
    }

    /// Lists what is stored, with one search.
    public func list() throws(Refusal) -> Listing {
        let acquirer = try readSources().acquirer
        do throws(StoreError) { return Listing(try acquirer.allRecords(), acquirer) } catch { throw .store(error) }
    }
}
