import JSON

extension ClaimsRequest {
    /// Asks for one more claim, in the short form that people type.
    ///
    /// `TARGET.NAME` asks for the claim, `=essential` says that nothing works without it, `=value:V` and `=values:A,B`
    /// say what it should be. A claim that is asked for several times says all of it. The target ends at the first dot
    /// and the name at the first `=`, so that a name may be a URL.
    ///
    /// - Throws: `ClaimsError` where the text is none of these.
    public mutating func ask(_ shortForm: String) throws(ClaimsError) {
        guard let dot = shortForm.firstIndex(of: ".") else { throw .malformedShortForm(shortForm) }
        let target = String(shortForm[..<dot])
        guard Self.targetNames.contains(target) else { throw .unknownTarget(target) }
        let rest = shortForm[shortForm.index(after: dot)...]
        let end = rest.firstIndex(of: "=") ?? rest.endIndex
        guard end > rest.startIndex else { throw .malformedShortForm(shortForm) }
        let name = String(rest[..<end])
        guard end < rest.endIndex else { return ask(target, name, [:]) }
        guard let members = Self.members(rest[rest.index(after: end)...]) else { throw .malformedShortForm(shortForm) }
        ask(target, name, members)
    }

    /// What the part after `=` says; nil where it says nothing.
    private static func members(_ text: Substring) -> [String: JSONValue]? {
        if text == "essential" { return ["essential": .bool(true)] }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = text[text.index(after: colon)...]
        guard !value.isEmpty else { return nil }
        switch text[..<colon] {
        case "value": return ["value": .string(String(value))]
        case "values":
            let values = value.split(separator: ",", omittingEmptySubsequences: false)
            guard values.allSatisfy({ !$0.isEmpty }) else { return nil }
            return ["values": .array(values.map { .string(String($0)) })]
        default: return nil
        }
    }
}
