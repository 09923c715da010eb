package import HTTP
package import JSON

extension HTTPAnswer {
    /// The body as JSON, for members whose types servers get wrong; nil if it isn't, or nests too deep.
    package var json: JSONValue? { JSONValue(bytes: body) }
}
