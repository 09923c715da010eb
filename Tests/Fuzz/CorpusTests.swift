import Foundation
import Testing

/// Inputs that once caused a failure, and valid ones: each runs through its target in every test run.
@Suite struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Corpus"

    private static func inputs(of target: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(target)").sorted()
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `every input that is kept holds`(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let inputs = try Self.inputs(of: name)
        #expect(!inputs.isEmpty)
        for input in inputs {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name)/\(input)"))
            #expect(throws: Never.self, "\(name)/\(input)") { try target.check([UInt8](bytes)) }
        }
    }

    @Test func `each folder of inputs is a target's`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
