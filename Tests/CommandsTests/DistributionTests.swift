import Terminal
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// The package names in each distribution.
@Suite struct DistributionTests {
    @Test(arguments: [
        ("ID=debian\n", Distribution.debian), ("NAME=x\nID=ubuntu\nID_LIKE=debian\n", .debian),
        ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", .debian), ("ID=fedora\n", .fedora),
        ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", .fedora), ("ID=arch\n", .arch),
        ("ID='endeavouros'\nID_LIKE='arch'\r\n", .arch), ("ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n", .other),
        ("ID_LIKE=debian\nID=arch\n", .arch), ("VARIANT_ID=debian\n", .other), ("#ID=debian\n", .other), ("", .other),
    ])
    func `a distribution is told by its own name, then by those it is like`(text: String, family: Distribution) {
        #expect(Distribution(OSRelease(text)) == family)
    }

    @Test func `each names the package as its own tool knows it`() {
        let lines = Distribution.allCases.map { Package.libsecret.hint("install it", on: $0).line }
        #expect(
            lines == [
                "install it: sudo apt install libsecret-1-0", "install it: sudo dnf install libsecret",
                "install it: sudo pacman -S libsecret",
                "install it with your distribution's package manager; it is called libsecret or similar",
            ])
        for package in Package.allCases {
            for family in Distribution.allCases where family != .other {
                #expect(package.hint(on: family).copied?.hasPrefix("sudo ") == true)
            }
        }
    }
}
