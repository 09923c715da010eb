import Addresses
import Secrets

/// The command line of the keyring library's own `keyring`, which argparse reads: options stand anywhere.
struct KeyringArguments: Equatable {
    /// What is to be done.
    enum Verb: String, CaseIterable {
        case get, set, del
    }

    /// What is wrong with a command line, in argparse's words, which pip compares.
    struct Mistake: Error, Equatable {
        let message: String
    }

    /// What is to be done.
    let verb: Verb
    /// The place, as the tool calls it.
    let service: String
    /// Whose password; nil if anybody's will do.
    let username: String?
    /// How `get` answers.
    let form: Form

    /// How an answer is to look.
    struct Form: Equatable {
        /// Whether it has the user name, too.
        var hasUsername = false
        /// Whether it is JSON.
        var isJSON = false
    }

    /// Reads a command line.
    init(_ arguments: [String]) throws(Mistake) {
        var form = Form()
        let values = try Self.values(of: arguments, &form)
        guard let first = values.first else {
            throw Mistake(message: "the following arguments are required: operation")
        }
        guard let verb = Verb(rawValue: first) else {
            let known = Verb.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(message: "invalid choice: '\(first.displayable(limit: 60))' (choose from \(known))")
        }
        guard values.count <= 3 else { throw Mistake(unrecognized: values[3]) }
        self.verb = verb
        self.form = form
        service = values.count > 1 ? values[1] : ""
        username = values.count > 2 && !values[2].isEmpty ? values[2] : nil
        let needsUsername = verb != .get || !form.hasUsername && values.count < 3
        guard !service.isEmpty, username != nil || !needsUsername else {
            throw Mistake(message: "\(verb.rawValue) requires service\(needsUsername ? " and username" : "")")
        }
    }

    /// What isn't an option, in order; the options go into the form.
    private static func values(of arguments: [String], _ form: inout Form) throws(Mistake) -> [String] {
        var values: [String] = []
        var rest = arguments[...]
        var areOptionsOver = false
        while let word = rest.popFirst() {
            if areOptionsOver || word.utf8.first != UInt8(ascii: "-") {
                values.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else {
                try form.take(option: word, &rest)
            }
        }
        return values
    }
}

extension KeyringArguments.Form {
    fileprivate mutating func take(
        option word: String, _ rest: inout ArraySlice<String>
    ) throws(KeyringArguments.Mistake) {
        let parts = word.pieces(between: "=", maxSplits: 1, omittingEmpty: false).map(String.init)
        let name = parts[0]
        guard ["--mode", "--output"].contains(name) else { throw KeyringArguments.Mistake(unrecognized: word) }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw KeyringArguments.Mistake(message: "argument \(name): expected one argument")
        }
        switch (name, value) {
        case ("--mode", "creds"): hasUsername = true
        case ("--mode", "password"): hasUsername = false
        case ("--output", "json"): isJSON = true
        case ("--output", "plain"): isJSON = false
        default:
            throw KeyringArguments.Mistake(
                message: "argument \(name): invalid choice: '\(value.displayable(limit: 60))'")
        }
    }
}

extension KeyringArguments.Mistake {
    fileprivate init(unrecognized word: String) {
        self.init(message: "unrecognized arguments: \(word.displayable(limit: 60))")
    }
}
