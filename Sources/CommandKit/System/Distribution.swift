import Addresses
import Files
package import Terminal

/// The description of an operating system (os-release(5)).
package struct OSRelease: Sendable {
    private let lines: [Substring]

    /// This system's description; empty if it has no such file.
    package static let here: OSRelease = {
        let files = ["/etc/os-release", "/usr/lib/os-release"]
        let bytes = files.compactMap { try? OpenFile($0).contents(atMost: 1 << 16) }.first
        return OSRelease(String(decoding: bytes ?? [], as: UTF8.self))
    }()

    /// Parses the text of a file.
    package init(_ text: String) {
        lines = text.pieces(between: "\n")
    }

    /// A value without its quotes; as in a shell, the last assignment counts.
    package subscript(_ name: String) -> String? {
        let values = lines.compactMap { $0.cut(at: "=") }.filter { $0.0.isSame(as: name) }
        return values.last.map { String($0.1.trimmed(of: "\"' \r")) }
    }
}

/// A family of distributions with the same package names and tool to install packages.
package enum Distribution: Sendable, CaseIterable {
    /// Debian, Ubuntu and derivatives.
    case debian
    /// Fedora, Red Hat Enterprise Linux and derivatives.
    case fedora
    /// Arch Linux and derivatives.
    case arch
    case other

    /// The family of this system.
    package static let here = Distribution(OSRelease.here)

    /// Finds the family by the distribution's own name, else by the ones that it names as similar, the closest first.
    init(_ system: OSRelease) {
        let names = [system["ID"], system["ID_LIKE"]].compactMap(\.self).joined(separator: " ").pieces(between: " ")
        self = names.lazy.compactMap { Self.families[String($0)] }.first ?? .other
    }

    private static let families: [String: Distribution] = [
        "debian": .debian, "ubuntu": .debian, "fedora": .fedora, "rhel": .fedora, "centos": .fedora, "arch": .arch,
    ]
}

/// A package that lanyard works with, by the name that most distributions give it.
package enum Package: String, Sendable, CaseIterable {
    case git
    /// A provider of the Secret Service.
    case gnomeKeyring = "gnome-keyring"
    /// The library for access to keyrings.
    case libsecret
    /// The local Entra for trying lanyard out.
    case sandbox = "lanyard-sandbox"
    /// The tools that open a browser.
    case xdgUtils = "xdg-utils"

    /// Returns a hint to install the package.
    package func hint(_ text: Message = "install it", on distribution: Distribution = .here) -> Hint {
        switch distribution {
        case .debian: Hint(text, run: "sudo apt install \(debianName)")
        case .fedora: Hint(text, run: "sudo dnf install \(rawValue)")
        case .arch: Hint(text, run: "sudo pacman -S \(rawValue)")
        case .other: Hint("\(text) with your distribution's package manager; it is called \(rawValue) or similar")
        }
    }

    private var debianName: String { self == .libsecret ? "libsecret-1-0" : rawValue }
}
