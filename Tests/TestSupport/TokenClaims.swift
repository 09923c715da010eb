import Foundation

/// Returns the unverified claims of a JSON Web Token; nil if it isn't one.
package func claims(of token: String?) -> [String: Any]? {
    guard let parts = token?.split(separator: "."), parts.count == 3 else { return nil }
    var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    while text.utf8.count % 4 != 0 { text += "=" }
    return Data(base64Encoded: String(text)).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
}

extension Ended {
    /// The tenant that issued the token in the output.
    package var tenant: String? { claims(of: value("password"))?["tid"] as? String }
}
