import Addresses
import JSON

extension ClaimsRequest {
    /// Asks for one more claim, in the short form that people type.
    ///
    /// `TARGET.NAME` asks for the claim, `=essential` says that nothing works without it, `=value:V` and `=values:A,B`
    /// say what it should be. A claim that is asked for several times says all of it. The target ends at the first dot
    /// and the name at the first `=`, so that a name may be a URL.
    ///
    /// - Throws: `ClaimsError` if the text is none of these.
    public mutating func ask(_ shortForm: String) throws(ClaimsError) {
        guard let (first, rest) = shortForm.cut(at: ".") else { throw .malformedShortForm(shortForm) }
        let target = String(first)
        guard Self.targetNames.contains(target) else { throw .unknownTarget(target) }
        let (name, wanted) = rest.cut(at: "=") ?? (rest, nil)
        guard !name.isEmpty else { throw .malformedShortForm(shortForm) }
        guard let wanted else { return ask(target, String(name), [:]) }
        guard let members = Self.members(wanted) else { throw .malformedShortForm(shortForm) }
        ask(target, String(name), members)
    }

    /// What the part after `=` says; nil if it says nothing.
    private static func members(_ text: Substring) -> [String: JSONValue]? {
        if text == "essential" { return ["essential": .bool(true)] }
        guard let (form, value) = text.cut(at: ":"), !value.isEmpty else { return nil }
        switch form {
        case "value": return ["value": .string(String(value))]
        case "values":
            let values = value.pieces(between: ",", omittingEmpty: false)
            guard values.allSatisfy({ !$0.isEmpty }) else { return nil }
            return ["values": .array(values.map { .string(String($0)) })]
        default: return nil
        }
    }
}
