import Addresses
import Files
import Terminal

/// What the system says of itself (os-release(5)).
struct OSRelease: Sendable {
    private let lines: [Substring]

    /// This system's own words; none if it has no such file.
    static let here: OSRelease = {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            guard let bytes = try? OpenFile(path).contents(atMost: 1 << 16) else { continue }
            return OSRelease(String(decoding: bytes, as: UTF8.self))
        }
        return OSRelease("")
    }()

    /// Reads a file's text.
    init(_ text: String) {
        lines = text.pieces(between: "\n")
    }

    /// A value without its quotes; the last assignment counts, as for a shell.
    subscript(_ name: String) -> String? {
        let values = lines.compactMap { $0.cut(at: "=") }.filter { $0.0.isSame(as: name) }
        return values.last.map { String($0.1.trimmed(of: "\"' \r")) }
    }
}

/// A family of distributions, as far as their packages and the tool to install them differ.
enum Distribution: Sendable, CaseIterable {
    /// Debian, Ubuntu and what is made of them.
    case debian
    /// Fedora, and Red Hat's and what is made of it.
    case fedora
    /// Arch Linux and what is made of it.
    case arch
    /// Any other.
    case other

    /// This system's.
    static let here = Distribution(OSRelease.here)

    /// Finds the family by the distribution's own name, else by those that it says it is like, the nearest first.
    init(_ system: OSRelease) {
        let names = [system["ID"], system["ID_LIKE"]].compactMap(\.self).joined(separator: " ").pieces(between: " ")
        self = names.lazy.compactMap { Self.families[String($0)] }.first ?? .other
    }

    private static let families: [String: Distribution] = [
        "debian": .debian, "ubuntu": .debian, "fedora": .fedora, "rhel": .fedora, "centos": .fedora, "arch": .arch,
    ]
}

/// Something that lanyard works with, as the distributions pack it.
enum Package: Sendable, CaseIterable {
    case git
    /// A provider of the Secret Service.
    case gnomeKeyring
    /// The library that keyrings are reached by.
    case libsecret
    /// The local Entra.
    case sandbox
    /// What opens a browser.
    case xdgUtils

    /// How to install it here.
    func hint(_ text: String = "install it", on distribution: Distribution = .here) -> Hint {
        switch distribution {
        case .debian: Hint(text, run: "sudo apt install \(debianName)")
        case .fedora: Hint(text, run: "sudo dnf install \(name)")
        case .arch: Hint(text, run: "sudo pacman -S \(name)")
        case .other: Hint("\(text) with your distribution's package manager; it is called \(name) or similar")
        }
    }

    private var name: String {
        switch self {
        case .git: "git"
        case .gnomeKeyring: "gnome-keyring"
        case .libsecret: "libsecret"
        case .sandbox: "lanyard-sandbox"
        case .xdgUtils: "xdg-utils"
        }
    }

    private var debianName: String { self == .libsecret ? "libsecret-1-0" : name }
}
