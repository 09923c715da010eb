internal import Addresses
internal import Crypto

extension String {
    /// Sixteen bytes of the text's SHA-256 in hexadecimal, which distinguish texts without revealing them.
    package var shortDigest: String {
        SHA256.hash(data: [UInt8](utf8)).prefix(16).hexadecimal
    }
}
