import Foundation

/// The executables built beside the tests.
enum Built {
    /// The folder they are in.
    static let folder: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        var folder = tests.deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/lanyard") {
            folder.deleteLastPathComponent()
        }
        return folder.path
    }()

    /// The checkout.
    static let checkout: String = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") {
            folder.deleteLastPathComponent()
        }
        return folder.path
    }()

    static let lanyard = folder + "/lanyard"
    static let sandbox = folder + "/lanyard-sandbox"
    static let chromium = checkout + "/Tests/EndToEndTests/Scripts/chromium-sign-in"
}
