import Foundation

/// The executables that are built along with the tests.
package enum Built {
    /// The folder of the executables.
    package static let folder: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        var folder = tests.deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/lanyard") {
            folder.deleteLastPathComponent()
        }
        return folder.path
    }()

    /// The folder of the checkout.
    package static let checkout: String = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") {
            folder.deleteLastPathComponent()
        }
        return folder.path
    }()

    /// The path of lanyard: the one built along with the tests, unless script/test names another.
    package static let lanyard = ProcessInfo.processInfo.environment["LANYARD_TESTED"] ?? folder + "/lanyard"
    /// The path of the local authority.
    package static let sandbox = folder + "/lanyard-sandbox"
    /// The path of the program that uses the store in a process of its own.
    package static let storeProbe = folder + "/StoreProbe"
    /// A `$BROWSER` that signs in with headless Chromium.
    package static let chromium = checkout + "/Tests/TestSupport/Scripts/chromium-sign-in"
}
