internal import Keyring

/// What secret-tool(1) does with the Secret Service, in whichever keyring there is.
///
/// Its own arguments come after the operation: `store`, `lookup`, `search` or `clear`, options, and pairs of attributes.
struct SecretTool {
    private let configuration: KeyringConfiguration
    private let action: String
    private let attributes: [String: String]

    init(_ configuration: KeyringConfiguration) {
        self.configuration = configuration
        var words = CommandLine.arguments.drop { $0 != "secret-tool" }.dropFirst()
        action = words.popFirst() ?? ""
        while words.first?.hasPrefix("--") == true {
            if words.removeFirst() == "--label" { words.removeFirst() }
        }
        var attributes: [String: String] = [:]
        while let name = words.popFirst(), let value = words.popFirst() { attributes[name] = value }
        self.attributes = attributes
    }

    func run(_ input: [UInt8]) throws(KeyringError) {
        try configuration.keyring.run(configuration) { session throws(KeyringError) in
            if action == "store" {
                try session.openForStoring()
                return try session.create(
                    ["xdg:schema": "org.freedesktop.Secret.Generic"].merging(attributes) { $1 }, label: "x",
                    secret: input, contentType: "text/plain", replacing: true)
            }
            let items = try session.items(at: session.search(attributes).unlocked, areLocked: false)
            let secrets = try session.secrets(of: items.map(\.path))
            for item in items {
                let secret = String(decoding: secrets[item.path] ?? [], as: UTF8.self)
                switch action {
                case "lookup": return print(secret, terminator: "")
                case "clear": try session.delete(item)
                default:
                    print("[\(item.path)]\nlabel = \(try session.label(of: item) ?? "")\nsecret = \(secret)")
                    for (name, value) in item.attributes { print("attribute.\(name) = \(value)") }
                }
            }
        }
    }
}
