import Foundation
import Testing

@testable import Terminal

/// QR codes, read back by a decoder that is not ours (zbar).
@Suite struct QRCodeTests {
    private static let page = "https://login.microsoftonline.com/common/oauth2/deviceauth"

    @Test(arguments: [
        "https://microsoft.com/devicelogin", page, "x", "https://example.com/?a=1&b=%20#c",
        String(repeating: "https://example.com/", count: 2), String(repeating: "0123456789", count: 8),
        String(repeating: "abcdefghij", count: 13), String(repeating: "AbC/", count: 50),
        String(repeating: "q", count: 271),
    ])
    func `a symbol says what was put into it`(text: String) throws {
        #expect(try Self.read(#require(QRCode(text))) == text)
    }

    /// Every length up to the largest, so that every version, level and shape of blocks occurs.
    @Test func `every length that fits can be read`() throws {
        var lengths = Set(stride(from: 1, through: 271, by: 10))
        // The ends of versions, where a symbol is full.
        lengths.formUnion([17, 18, 32, 33, 53, 54, 78, 79, 106, 107, 134, 135, 154, 155, 192, 193, 230, 231, 271])
        let texts = lengths.sorted().map { length in
            String((0..<length).map { index in Character(Unicode.Scalar(UInt8(33 + (index * 7 + length) % 90))) })
        }
        for text in texts { #expect(try Self.read(#require(QRCode(text))) == text, "\(text.utf8.count) bytes") }
    }

    @Test func `what is too long gives no symbol`() {
        #expect(QRCode(String(repeating: "q", count: 272)) == nil)
    }

    @Test func `around the symbol all is light`() throws {
        let code = try #require(QRCode(Self.page))
        #expect(code.isDark(row: 0, column: 0))
        for outside in [(-1, 0), (0, -1), (code.side, 0), (0, code.side)] {
            #expect(!code.isDark(row: outside.0, column: outside.1))
        }
    }

    /// What zbarimg reads in a picture of the symbol, with the four modules of quiet zone that the standard asks for.
    private static func read(_ code: QRCode) throws -> String {
        let scale = 4
        let side = (code.side + 8) * scale
        var picture = Data("P5 \(side) \(side) 255\n".utf8)
        for y in 0..<side {
            for x in 0..<side { picture.append(code.isDark(row: y / scale - 4, column: x / scale - 4) ? 0 : 255) }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pgm")
        try picture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let decoder = Process()
        decoder.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
        decoder.arguments = ["--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", file.path]
        let output = Pipe()
        decoder.standardOutput = output
        try decoder.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        var text = String(decoding: bytes, as: UTF8.self)
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}
