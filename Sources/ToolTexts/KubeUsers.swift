import Addresses
import Secrets

/// The users in a kubeconfig as kubectl writes it, for edits that leave everything else unchanged.
///
/// Users in YAML's block style, with two blanks per level, can be read and changed; those in flow style, with braces as
/// in JSON, can only be read.
package struct KubeUsers {
    /// A user with the rows below its `user:`.
    package struct User {
        package let name: String
        fileprivate let rows: Range<Int>
        fileprivate let indent: Int
        /// The rows without their indentation.
        package let lines: [String]
        /// Whether the user is in flow style, with braces.
        package var isFlow = false
    }

    /// Returns a user from the lines in a record.
    package static func user(_ name: String, lines: String) -> User {
        User(name: name, rows: 0..<0, indent: 0, lines: lines.pieces(between: "\n").map(String.init))
    }

    /// Returns the name of the current context; nil if the text has none.
    package static func current(_ text: String) -> String? {
        let rows = text.pieces(between: "\n", omittingEmpty: false)
        let own = flow(rows, "contexts").map { $0.pieces(between: "\n") + rows } ?? rows
        return own.lazy.filter { $0.indent == 0 }.compactMap { $0.value(of: "current-context") }.first
    }

    package let users: [User]
    /// The names of all users, including those without settings.
    package let names: [String]
    private let rows: [Substring]

    /// Reads the users, or another list whose items have settings below a key.
    package init(_ text: String, list: String = "users", of item: String = "user") {
        let rows = text.pieces(between: "\n", omittingEmpty: false)
        self.rows = rows
        if let flow = Self.flow(rows, list) {
            let blocks = KubeUsers(flow, list: list, of: item)
            (users, names) = (blocks.users.map(\.asFlow), blocks.names)
            return
        }
        guard let start = rows.firstIndex(where: { $0.said == "\(list):" && $0.indent == 0 }) else {
            (users, names) = ([], [])
            return
        }
        let body = start + 1..<(rows[(start + 1)...].firstIndex { $0.isTopLevelKey } ?? rows.count)
        guard let level = rows[body].first(where: { !$0.said.isEmpty })?.indent else {
            (users, names) = ([], [])
            return
        }
        let items = rows[body].indices.filter { rows[$0].indent == level && rows[$0].trimmed().hasPrefix("- ") }
        let ranges = items.enumerated().map { index, first in
            first..<(index + 1 < items.count ? items[index + 1] : body.upperBound)
        }
        users = ranges.compactMap { Self.user(in: $0, of: rows, level, item) }
        names = ranges.compactMap { Self.name(in: $0, of: rows, level) }
    }

    /// Returns the text with other lines below a user's `user:`.
    package func replacing(_ user: User, with lines: [String]) -> String {
        let indent = String(repeating: " ", count: user.indent)
        var new = lines.map { (indent + $0 + (isReturned(0) ? "\r" : ""))[...] }
        if isReturned(0), !isReturned(user.rows.upperBound - 1), let last = lines.last {
            new[new.count - 1] = (indent + last)[...]
        }
        return (rows[..<user.rows.lowerBound] + new + rows[user.rows.upperBound...]).joined(separator: "\n")
    }

    /// Whether a row ends with a carriage return.
    private func isReturned(_ row: Int) -> Bool { rows[row].utf8.last == UInt8(ascii: "\r") }

    /// Returns a text in block style if its list is in flow style; else nil.
    private static func flow(_ rows: [Substring], _ list: String) -> String? {
        let first = rows.firstIndex { !$0.isBlank && !$0.hasPrefix("#") && !$0.hasPrefix("---") }
        if let first, rows[first].trimmed(of: " \t").hasPrefix("{") {
            return KubeFlow.lines(rows[first...].joined(separator: "\n"))?.joined(separator: "\n")
        }
        guard let start = rows.firstIndex(where: { $0.indent == 0 && $0.value(of: list)?.hasPrefix("[") == true }),
            let lines = KubeFlow.lines(rows[start...].joined(separator: "\n").dropFirst(list.count + 1))
        else { return nil }
        return "\(list):\n" + lines.joined(separator: "\n")
    }

    private static func name(in item: Range<Int>, of rows: [Substring], _ level: Int) -> String? {
        let key = level + 2
        let keys = item.filter { $0 == item.lowerBound || rows[$0].indent == key }
        if let name = keys.lazy.compactMap({ rows[$0].dropFirst(key).value(of: "name") }).first { return name }
        let text = rows[item].joined(separator: "\n").trimmed(of: " ").dropFirst()
        return KubeFlow.lines(text)?.lazy.filter { $0[...].indent == 0 }.compactMap { $0.value(of: "name") }.first
    }

    /// Returns a user whose whole item is in flow style.
    private static func flowUser(in item: Range<Int>, of rows: [Substring], _ member: String) -> User? {
        let text = rows[item].joined(separator: "\n").trimmed(of: " ").dropFirst()
        guard text.trimmed(of: " ").hasPrefix("{"), let lines = KubeFlow.lines(text) else { return nil }
        let block = "users:\n- " + lines.joined(separator: "\n  ")
        return KubeUsers(block, list: "users", of: member).users.first?.asFlow
    }

    /// Returns a user with only the settings in flow style.
    private static func user(_ name: String, ofFlow rows: ArraySlice<Substring>) -> User? {
        guard let text = rows.map(\.said).joined(separator: "\n").cut(at: ":")?.1, let lines = KubeFlow.lines(text),
            !lines.isEmpty
        else { return nil }
        return User(name: name, rows: 0..<0, indent: 0, lines: lines, isFlow: true)
    }

    private static func user(
        in item: Range<Int>, of rows: [Substring], _ level: Int, _ member: String
    ) -> User? {
        if let user = flowUser(in: item, of: rows, member) { return user }
        let key = level + 2
        // The item's hyphen is in the same column as its keys' indentation.
        let keys = item.filter { $0 == item.lowerBound || rows[$0].indent == key && !rows[$0].isBlank }
        let texts = keys.map { String(rows[$0].dropFirst(key)) }
        guard let name = texts.lazy.compactMap({ $0.value(of: "name") }).first, !name.isEmpty,
            let place = texts.firstIndex(where: { $0.value(of: member) != nil })
        else { return nil }
        let start = keys[place] + 1
        var end = place + 1 < keys.count ? keys[place + 1] : item.upperBound
        guard texts[place].said == "\(member):" else {
            return user(name, ofFlow: rows[keys[place]..<end])
        }
        while end > start, rows[end - 1].isBlank { end -= 1 }
        guard start < end, rows[start].indent > key else { return nil }
        let indent = rows[start].indent
        let lines = rows[start..<end].map { String($0.dropFirst(min(indent, $0.indent)).trimmed(of: "\r")) }
        return User(name: name, rows: start..<end, indent: indent, lines: lines)
    }
}

extension KubeUsers.User {
    private static let terms = ["devicecode", "interactive", "azurecli"]
    /// The variables that kubelogin reads and that only say who signs in and how.
    private static let variables = [
        "AAD_LOGIN_METHOD", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AAD_SERVICE_PRINCIPAL_CLIENT_ID",
        "AZURE_CLI_TIMEOUT",
    ]
    private static let secrets = ["--client-secret", "--password", "--client-certificate", "--pop-enabled", "--legacy"]

    /// Returns the lines of an `exec` that runs lanyard; nil unless the user is a person who signs in to Entra ID, or
    /// lanyard's already.
    package func converted(running program: String) -> [String]? {
        if isLanyard, !isFlow { return lines }
        guard isOfEntra, obstacle == nil else { return nil }
        let version = value(of: "apiVersion") == "client.authentication.k8s.io/v1" ? "v1" : "v1beta1"
        return [
            "exec:", "  apiVersion: client.authentication.k8s.io/\(version)", "  args:", "  - kubectl",
            "  command: \(program)", "  env: null", "  interactiveMode: IfAvailable", "  provideClusterInfo: true",
        ]
    }

    /// The lines without tokens, which must not be in a record.
    package var withoutTokens: [String] {
        lines.filter { line in
            !["access-token", "refresh-token", "expires-in", "expires-on"].contains { line.value(of: $0) != nil }
        }
    }

    fileprivate var asFlow: KubeUsers.User {
        var user = self
        user.isFlow = true
        return user
    }

    /// Whether it already runs lanyard.
    package var isLanyard: Bool { command == "lanyard" }

    private var command: String? {
        guard lines.first?.hasPrefix("exec:") == true else { return nil }
        return value(of: "command")?.pieces(between: "/").last.map(String.init)
    }

    /// Returns the value of the first line that sets a key.
    package func value(of key: String) -> String? { lines.lazy.compactMap { $0.value(of: key) }.first }

    /// Whether it gets Entra ID tokens from kubelogin, or from kubectl's former sign-in.
    package var isOfEntra: Bool { isOfFormerProvider || lines.contains { $0.said.hasBytes("kubelogin") } }

    /// Whether it uses kubectl's former sign-in, which stored the tokens in the file.
    package var isOfFormerProvider: Bool {
        lines.first?.hasPrefix("auth-provider:") == true && lines.contains { $0.value(of: "name") == "azure" }
    }

    /// Whether the file contains its tokens.
    package var hasTokens: Bool { withoutTokens.count < lines.count }

    /// The reason why lanyard can't replace what gets its tokens; nil if it can, or if they aren't Entra ID's.
    package var obstacle: String? {
        guard isOfEntra else { return nil }
        guard !isFlow else { return "it is written with braces, which lanyard doesn't change" }
        guard !isOfFormerProvider else { return nil }
        guard let command else { return "it is not written as kubectl writes it" }
        guard command == "kubelogin" else { return "it runs \(command.displayable(limit: 60)), not kubelogin itself" }
        let (words, variables) = (words, variables)
        // The value of any other variable may be a secret.
        if let other = variables.keys.sorted().first(where: { !Self.variables.contains($0) || variables[$0] == "" }) {
            return "it sets \(other.displayable(limit: 60)) for kubelogin (env), which lanyard doesn't read"
        }
        if let secret = words.first(where: Self.secrets.contains) { return "it has \(secret)" }
        if let way = variables["AAD_LOGIN_METHOD"] { return Self.obstacle(way, "AAD_LOGIN_METHOD is") }
        guard let place = words.firstIndex(where: { $0 == "--login" || $0 == "-l" }) else { return nil }
        guard place + 1 < words.count else { return "its --login names no way to sign in" }
        return Self.obstacle(words[place + 1], "--login")
    }

    private static func obstacle(_ way: String, _ setting: String) -> String? {
        terms.contains(way) ? nil : "no person signs in with it (\(setting) \(way.displayable(limit: 60)))"
    }

    /// Who signs in where, according to kubelogin's options or kubectl's settings.
    package var signIn: KubeSignIn {
        let (words, variables) = (words, variables)
        func option(_ names: String..., setting: String) -> String? {
            if let place = words.firstIndex(where: names.contains), place + 1 < words.count { return words[place + 1] }
            return isOfFormerProvider ? value(of: setting) : nil
        }
        return KubeSignIn(
            tenant: variables["AZURE_TENANT_ID"] ?? option("--tenant-id", "-t", setting: "tenant-id"),
            clientID: variables["AZURE_CLIENT_ID"] ?? variables["AAD_SERVICE_PRINCIPAL_CLIENT_ID"]
                ?? option("--client-id", setting: "client-id"),
            server: option("--server-id", setting: "apiserver-id"),
            cloud: option("--environment", "-e", setting: "environment"))
    }

    /// The variables for the program, which kubelogin prefers to its options; a value with several words is empty here.
    private var variables: [String: String] {
        let words = words
        var variables: [String: String] = [:]
        for place in words.indices where words[place].isSame(as: "name:") && place + 1 < words.count {
            let isWord = place + 3 < words.count && words[place + 2].isSame(as: "value:")
            let value = isWord ? words[place + 3] : ""
            variables[words[place + 1]] = value.hasSuffix(":") ? "" : value
        }
        return variables
    }

    /// The words in the lines; a list may be in brackets or have one line per element.
    private var words: [String] {
        lines.map(\.said).joined(separator: " ").utf8.split { " \t\r,[]{}\"'=".utf8.contains($0) }
            .map { String(Substring($0)) }.filter { !$0.isSame(as: "-") }
    }
}

extension StringProtocol {
    /// Returns the value of a key in a YAML line, without quotes; nil if the line sets another key or none.
    fileprivate func value(of key: String) -> String? {
        let line = said
        guard line.hasPrefix("\(key):") else { return nil }
        return line.dropFirst(key.count + 1).unquoted
    }

    /// A YAML line without blanks around it and the comment at its end.
    fileprivate var said: String {
        var (kept, quote, last): ([UInt8], UInt8?, UInt8) = ([], nil, UInt8(ascii: " "))
        for byte in utf8 {
            if byte == quote, byte != UInt8(ascii: "\"") || last != UInt8(ascii: "\\") {
                quote = nil
            } else if quote == nil, "\"'".utf8.contains(byte), " \t[{,:".utf8.contains(last) {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: "#"), " \t".utf8.contains(last) {
                break
            }
            kept.append(byte)
            last = byte
        }
        return String(decoding: kept, as: UTF8.self).trimmed(of: " \t\r").description
    }

    /// A YAML scalar on one line, without its quotes.
    var unquoted: String {
        let text = trimmed(of: " \t\r")
        guard let quote = text.utf8.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }
}

extension Substring {
    fileprivate var indent: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }
    fileprivate var isTopLevelKey: Bool { indent == 0 && !isBlank && !hasPrefix("-") && !hasPrefix("#") }
}

/// The sign-in of a kubeconfig's user; properties that aren't specified are nil.
package struct KubeSignIn: Sendable, Equatable {
    package let tenant: String?
    package let clientID: String?
    /// The application that represents the cluster.
    package let server: String?
    /// The name of one of Azure's clouds.
    package let cloud: String?
}
