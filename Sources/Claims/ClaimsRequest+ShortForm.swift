import Addresses
import JSON

extension ClaimsRequest {
    /// Adds a claim in the short form that users type.
    ///
    /// `TARGET.NAME` requests the claim, `=essential` says that it is required, `=value:V` and `=values:A,B` say which
    /// values are wanted. If a claim is requested several times, all of this applies. The target ends at the first dot
    /// and the name at the first `=`, so a name may be a URL.
    ///
    /// - Throws: `ClaimsError` if the text has none of these forms.
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

    /// Parses the part after `=`; nil if it is invalid.
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
