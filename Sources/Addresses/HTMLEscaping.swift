extension StringProtocol {
    /// The text escaped for an HTML element, or an attribute in quotes of either kind.
    package var htmlEscaped: String {
        var html = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}
