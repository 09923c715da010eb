import Foundation
import Testing

@testable import Terminal

/// QR codes, read back by an independent decoder (zbar).
@Suite struct QRCodeTests {
    private static let page = "https://login.microsoftonline.com/common/oauth2/deviceauth"

    private static let texts = [
        "https://microsoft.com/devicelogin", page, "x", "https://example.com/?a=1&b=%20#c",
        String(repeating: "https://example.com/", count: 2), String(repeating: "0123456789", count: 8),
        String(repeating: "abcdefghij", count: 13), String(repeating: "AbC/", count: 50),
    ]

    /// Every tenth length, and those at which a version ends and its symbol is full, up to the largest: together they
    /// cover every version, level and block structure.
    private static let lengths =
        Set(stride(from: 1, through: 271, by: 10))
        .union([17, 18, 32, 33, 53, 54, 78, 79, 106, 107, 134, 135, 154, 155, 192, 193, 230, 231, 271])

    @Test func `a symbol says what was put into it`() throws {
        let filled = Self.lengths.sorted().map { length in
            String((0..<length).map { index in Character(Unicode.Scalar(UInt8(33 + (index * 7 + length) % 90))) })
        }
        let texts = Self.texts + filled
        let read = try Self.read(texts.map { try #require(QRCode($0)) })
        #expect(read == texts)
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

    /// Returns what zbarimg reads from pictures of the symbols, in one call, because it takes longer to start than to
    /// read.
    private static func read(_ codes: [QRCode]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try codes.enumerated().map { number, code in
            let file = folder.appendingPathComponent("\(number).pgm")
            try picture(of: code).write(to: file)
            return file.path
        }
        let decoder = Process()
        decoder.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
        decoder.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"] + files
        let output = Pipe()
        decoder.standardOutput = output
        try decoder.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns a picture of the symbol, with the quiet zone of four modules that the standard requires.
    private static func picture(of code: QRCode) -> Data {
        let scale = 4
        let side = (code.side + 8) * scale
        var picture = Data("P5 \(side) \(side) 255\n".utf8)
        for y in 0..<side {
            for x in 0..<side { picture.append(code.isDark(row: y / scale - 4, column: x / scale - 4) ? 0 : 255) }
        }
        return picture
    }
}
