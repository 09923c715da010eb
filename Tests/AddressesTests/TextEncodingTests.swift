import Testing

@testable import Addresses

/// Encodings of bytes as text: base64url, hexadecimal digits, percent escapes, and UUIDs.
@Suite struct TextEncodingTests {
    /// The vectors of RFC 4648, 10, without padding, and the two digits that differ between the alphabets.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("~~~", "fn5-"), ("???", "Pz8_"),
    ])
    func `base64url is written and read`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
        #expect(Base64URL.isEncoded(encoded))
    }

    @Test(arguments: ["Zg==", "Zm8=", "fn5+", "Pz8/"])
    func `padding and the other alphabet are read too`(encoded: String) {
        #expect(Base64URL.decode(encoded) != nil)
        #expect(
            Base64URL.isEncoded(encoded)
                == encoded.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") })
    }

    @Test(arguments: ["Z", "Zm9vY", "Zg===", "Zg=x", "Zm 8", "Zm8\n", "Z.m8", "Zm8\u{301}", "é"])
    func `what isn't base64 is nothing`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `each byte has two hexadecimal digits`() {
        #expect([0x00, 0x0F, 0xA0, 0xFF].hexadecimal == "000fa0ff")
        #expect([UInt8]().hexadecimal.isEmpty)
    }

    @Test func `all but unreserved characters are escaped`() {
        #expect("aZ09-._~".percentEncoded == "aZ09-._~")
        #expect("a b+c/ä%".percentEncoded == "a%20b%2Bc%2F%C3%A4%25")
        #expect("a b+c/ä%".percentEncoded.percentDecoded == "a b+c/ä%")
    }

    @Test(arguments: [
        ("c0a70500-0000-4000-8000-00000c0a7050", true), ("C0A70500-0000-4000-8000-00000C0A7050", true),
        ("c0a70500-0000-4000-8000-00000c0a705", false), ("c0a705000-000-4000-8000-00000c0a7050", false),
        ("g0a70500-0000-4000-8000-00000c0a7050", false), ("{c0a70500-0000-4000-8000-00000c0a7050}", false),
        ("c0a70500-0000-4000-8000-00000c0a7050-x", false), ("", false),
    ])
    func `a UUID has five groups of hexadecimal digits`(text: String, isUUID: Bool) {
        #expect(text.isUUID == isUUID)
    }
}
