import FoundationEssentials
import JSON
import SeededRandom
import Testing

@Suite struct JSONValueTests {
    @Test func `any value survives a round trip, its members sorted`() {
        let text = #"{"a":[1,2.5,true,null,"x/y"],"b":{"c":-9223372036854775808}}"#
        #expect(JSONValue(bytes: text.utf8)?.encodedText == text)
        #expect(JSONValue(bytes: #"{"b": 1, "a": 2}"#.utf8)?.encodedText == #"{"a":2,"b":1}"#)
    }

    @Test func `a document is bounded in length and depth`() {
        #expect(JSONValue(bytes: "[1]".utf8, atMost: 3) == [1])
        #expect(JSONValue(bytes: "[10]".utf8, atMost: 3) == nil)
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(JSONValue(bytes: nested(64).utf8) != nil)
        #expect(JSONValue(bytes: nested(65).utf8) == nil)
        #expect(JSONValue(bytes: String(repeating: "[", count: 1_000_000).utf8) == nil)
    }

    /// Reading a document within the size limit took two minutes when brackets in strings counted as nesting.
    @Test func `brackets in strings are text and no nesting`() {
        let open = String(repeating: "[", count: 480)
        let closed = String(repeating: "]", count: 480)
        let unit = "{\"\(String(repeating: "}", count: 480))\":1,\"v\":\(open)\(closed)}"
        #expect(JSONValue(bytes: unit.utf8) == nil)
        let claims = #"{"access_token":{"x":{"values":[\#([unit, unit].joined(separator: ","))]}}}"#
        #expect(JSONValue(bytes: claims.utf8) == nil)
        #expect(JSONValue(bytes: "[\"\(open)\",\"\\\"\(closed)\"]".utf8) == [.string(open), .string("\"" + closed)])
    }

    @Test func `texts are what their escapes say`() {
        let text = #"["\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000x"]"#
        #expect(JSONValue(bytes: text.utf8) == ["\"\\/\u{8}\u{C}\n\r\tAé€😀\u{0}x"])
        #expect(JSONValue(bytes: [0xEF, 0xBB, 0xBF] + Array("[1]".utf8)) == [1], "a byte order mark is skipped")
    }

    @Test(arguments: [
        ("0", JSONValue.integer(0)), ("-0", JSONValue.integer(0)), ("1.0", JSONValue.integer(1)),
        ("1e2", JSONValue.integer(100)), ("0.5", JSONValue.number(0.5)),
        ("9223372036854775807", JSONValue.integer(.max)), ("9223372036854775808", JSONValue.number(0x1p63)),
        ("1E-2", JSONValue.number(0.01)),
    ])
    func `numbers are whole where they have no fraction`(text: String, number: JSONValue) {
        #expect(JSONValue(bytes: text.utf8) == number)
    }

    /// The exception is a comma after the last element, which Foundation accepts and RFC 8259 doesn't.
    @Test func `whatever the bytes, Foundation reads the same`() {
        var random = SeededGenerator(seed: 20_261_121)
        let documents = [
            #"{"a":[1,-2.5e+3,true,null,"x\/y\u00e9\ud83d\ude00"],"b":{"c":false,"":{}}}"#, #"[[],[{}],"é€"," "]"#,
            #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#,
        ].map { Array($0.utf8) }
        let alphabet = Array("{}[]:,\"\\/-+.eE0123456789truefalsnu \n\t\u{1}\u{7F}é".utf8)
        var accepted = 0
        for _ in 0..<5_000 {
            var bytes = documents.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let byte = alphabet.randomElement(using: &random) ?? 0
                if Bool.random(using: &random) { bytes[place] = byte } else { bytes.insert(byte, at: place) }
            }
            let reference = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
            let value = JSONValue(bytes: bytes)
            let dense = bytes.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\t") }
            if value == nil, [",]", ",}"].contains(where: { String(decoding: dense, as: UTF8.self).contains($0) }) {
                continue
            }
            if value != nil { accepted += 1 }
            #expect(value == reference, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 1000)
    }

    @Test func `of a name that comes twice the first counts, as it does with Foundation`() throws {
        let text = #"{"a": 1, "b": 2, "a": 3}"#
        #expect(JSONValue(bytes: text.utf8) == ["a": 1, "b": 2])
        #expect(try JSONDecoder().decode([String: Int].self, from: Data(text.utf8)) == ["a": 1, "b": 2])
    }

    @Test(arguments: [
        "", "{", "[1", "{'a': 1}", "nul", "1 2", "\u{0}", "01", "+1", "1.", ".5", "1e", "-", "[1,]", #"{"a":1,}"#,
        #"{"a"}"#, #""\x""#, #""\u12""#, #""\u+123""#, #""\ud83d""#, #""\udE00""#, "\"\u{1}\"", "\"a\nb\"", "1e999999",
        "[1e400]",
    ])
    func `what is no document is refused`(text: String) {
        #expect(JSONValue(bytes: text.utf8) == nil)
    }

    @Test func `objects are merged member by member, anything else gives way`() {
        let one: JSONValue = ["a": ["b": 1, "c": [1]], "d": 1]
        #expect(one.merging(["a": ["c": [2]], "e": true]) == ["a": ["b": 1, "c": [2]], "d": 1, "e": true])
        #expect(one.merging("text") == "text")
    }

    @Test func `numbers and texts stand in for each other only where asked`() {
        #expect(JSONValue.string("17").wholeNumber == 17)
        #expect(JSONValue.string("17").integer == nil)
        #expect(JSONValue.integer(17).text == "17")
        #expect(JSONValue.integer(17).string == nil)
        #expect(JSONValue.number(1e300).wholeNumber == nil)
    }
}
