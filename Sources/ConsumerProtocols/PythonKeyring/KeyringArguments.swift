import Addresses
import Secrets

/// The arguments of the keyring library's command `keyring`; as in argparse, options may be anywhere.
///
/// Mistakes are in argparse's words, which pip compares.
struct KeyringArguments: Equatable {
    enum Verb: String, CaseIterable {
        case get, set, del
    }

    let verb: Verb
    /// The place as the tool names it.
    let service: String
    /// The user name; nil if any will do.
    let username: String?
    /// The format of the answer to `get`.
    let form: Form

    /// A format of answers.
    struct Form: Equatable {
        /// Whether the answer includes the user name.
        var hasUsername = false
        /// Whether the answer is JSON.
        var isJSON = false
    }

    /// Parses the arguments.
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

    /// Returns the arguments that aren't options, in order, and stores the options in `form`.
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
    fileprivate mutating func take(option word: String, _ rest: inout ArraySlice<String>) throws(Mistake) {
        let parts = word.pieces(between: "=", maxSplits: 1, omittingEmpty: false).map(String.init)
        let name = parts[0]
        guard ["--mode", "--output"].contains(name) else { throw Mistake(unrecognized: word) }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw Mistake(message: "argument \(name): expected one argument")
        }
        switch (name, value) {
        case ("--mode", "creds"): hasUsername = true
        case ("--mode", "password"): hasUsername = false
        case ("--output", "json"): isJSON = true
        case ("--output", "plain"): isJSON = false
        default:
            throw Mistake(message: "argument \(name): invalid choice: '\(value.displayable(limit: 60))'")
        }
    }
}

extension Mistake {
    fileprivate init(unrecognized word: String) {
        self.init(message: "unrecognized arguments: \(word.displayable(limit: 60))")
    }
}
