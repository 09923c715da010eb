import JSON
import Testing

/// Inserting members into a JSON text and removing them, without changing anything else.
@Suite struct JSONTextTests {
    private static let docker = "{\n\t\"auths\": {\n\t\t\"a.example\": {}\n\t},\n\t\"psFormat\": \"x\"\n}\n"

    /// A text, a path, and the text with `"lanyard"` there.
    private static let edits: [(String, [String], String)] = [
        ("{}", ["credsStore"], "{\n\t\"credsStore\": \"lanyard\"\n}"),
        (
            "{}\n", ["credHelpers", "a.example:5000"],
            "{\n\t\"credHelpers\": {\n\t\t\"a.example:5000\": \"lanyard\"\n\t}\n}\n"
        ),
        (
            docker, ["credsStore"],
            docker.replacing("\"x\"\n", with: "\"x\",\n\t\"credsStore\": \"lanyard\"\n")
        ),
        (
            docker, ["credHelpers", "b.example"],
            docker.replacing(
                "\"x\"\n", with: "\"x\",\n\t\"credHelpers\": {\n\t\t\"b.example\": \"lanyard\"\n\t}\n")
        ),
        (
            "{\n  \"credHelpers\": {\n    \"a\": \"b\"\n  }\n}", ["credHelpers", "c"],
            "{\n  \"credHelpers\": {\n    \"a\": \"b\",\n    \"c\": \"lanyard\"\n  }\n}"
        ),
        (#"{"a":1}"#, ["b"], #"{"a":1,"b": "lanyard"}"#),
        (#"{ "a": 1, "b": 2 }"#, ["c"], #"{ "a": 1, "b": 2, "c": "lanyard" }"#),
        (#"{"a":{"b":[1,{"c":"}"}]}}"#, ["a", "c"], #"{"a":{"b":[1,{"c":"}"}],"c": "lanyard"}}"#),
        (#"{"ä\"":1}"#, ["ö\""], #"{"ä\"":1,"ö\"": "lanyard"}"#),
    ]

    @Test(arguments: edits)
    func `a new member stands as the others do, and goes without a trace`(
        text: String, path: [String], after: String
    ) throws {
        let json = try #require(JSONText(text))
        #expect(json.value(at: path) == nil)
        let changed = try #require(json.setting(#""lanyard""#, at: path))
        #expect(changed == after)
        #expect(JSONText(changed)?.value(at: path) == #""lanyard""#)
        #expect(JSONText(changed)?.removing(path) == text)
    }

    @Test(arguments: [
        (#"{"a": "x" , "b":2}"#, ["a"], #"{"a": "lanyard" , "b":2}"#),
        ("{\n\"a\": {\"b\" : [1,\n2]}}", ["a", "b"], "{\n\"a\": {\"b\" : \"lanyard\"}}"),
        (#"{"\u0061": 1, "a": 2}"#, ["a"], #"{"\u0061": "lanyard", "a": 2}"#),
    ])
    func `a value is replaced where it stands, and put back`(text: String, path: [String], after: String) throws {
        let before = try #require(JSONText(text)?.value(at: path))
        #expect(JSONText(text)?.setting(#""lanyard""#, at: path) == after)
        #expect(JSONText(after)?.setting(before, at: path) == text)
    }

    @Test(arguments: [
        (#"{"a":1,"b":2,"c":3}"#, ["a"], #"{"b":2,"c":3}"#), (#"{"a":1,"b":2,"c":3}"#, ["b"], #"{"a":1,"c":3}"#),
        (#"{"a":1,"b":2,"c":3}"#, ["c"], #"{"a":1,"b":2}"#), (#"{"a":{"b":{"c":3}}}"#, ["a", "b", "c"], "{}"),
        (#"{"a":{"b":1},"c":2}"#, ["a", "b"], #"{"c":2}"#), (#"{"a":1}"#, ["x"], #"{"a":1}"#),
        (#"{"a":1}"#, ["a", "x"], #"{"a":1}"#),
    ])
    func `a member is taken out`(text: String, path: [String], after: String) {
        #expect(JSONText(text)?.removing(path) == after)
    }

    @Test(arguments: [
        ("// x\n{}", ["a"], "// x\n{\n\t\"a\": \"lanyard\"\n}"),
        ("{ /* \"a\": 1 */ }", ["a"], "{ /* \"a\": 1 */\n\t\"a\": \"lanyard\" }"),
        ("{\n  \"b\": \"//\", // x\n}", ["a"], "{\n  \"b\": \"//\", // x\n  \"a\": \"lanyard\",\n}"),
        (
            "{\n  // b\n  \"b\": [1, /* , */],\n  \"c\": {}\n  // end\n}", ["c", "a"],
            "{\n  // b\n  \"b\": [1, /* , */],\n  \"c\": {\n    \"a\": \"lanyard\"\n  }\n  // end\n}"
        ),
    ])
    func `comments and last commas stay where they are`(text: String, path: [String], after: String) throws {
        #expect(JSONText(text) == nil || !text.contains("/"))
        let json = try #require(JSONText(text, allowingComments: true))
        #expect(json.setting(#""lanyard""#, at: path) == after)
        let changed = try #require(JSONText(after, allowingComments: true))
        #expect(changed.value(at: path) == #""lanyard""#)
        #expect(changed.removing(path, keepingObjects: true) == text)
    }

    @Test(arguments: [
        ("{\"a\": 1, // one\n // two\n\"b\": 2}", "a", "{// one\n // two\n\"b\": 2}"),
        ("{\"a\": 1, // one\n\"b\": 2}", "b", "{\"a\": 1 // one\n}"), ("{// one\n\"a\": 1,\n}", "a", "{// one\n}"),
    ])
    func `a member goes without the comments of others`(text: String, name: String, after: String) {
        #expect(JSONText(text, allowingComments: true)?.removing([name]) == after)
    }

    @Test(arguments: ["{ /* x }", "{} / x", "{,}", "{\"a\": 1,, }", "{\"a\": \"x // y}"])
    func `not everything is a comment`(text: String) { #expect(JSONText(text, allowingComments: true) == nil) }

    @Test(arguments: ["", "[]", "1", "{", "{} x", #"{"a":}"#, "// x\n{}"])
    func `what is no object is refused`(text: String) { #expect(JSONText(text) == nil) }

    @Test func `nothing is put below what is no object`() {
        #expect(JSONText(#"{"a": "text"}"#)?.setting("1", at: ["a", "b"]) == nil)
        #expect(JSONText(#"{"a": "text"}"#)?.value(at: ["a", "b"]) == nil)
    }
}
