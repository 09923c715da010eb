import JSON
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

    @Test func `a name that comes twice is no error`() {
        #expect(JSONValue(bytes: #"{"a": 1, "a": 1}"#.utf8) == ["a": 1])
    }

    @Test(arguments: ["", "{", "[1", "{'a': 1}", "nul", "1 2", "\u{0}"])
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
