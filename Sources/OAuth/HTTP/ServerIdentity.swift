import NIOCore
import NIOSSL

extension NIOSSLCertificate {
    /// Whether the certificate is for a URL's host (RFC 9525, 6): a host name needs a DNS name, an address an IP
    /// address.
    ///
    /// NIOSSL checks the name, too, but accepts a certificate for every host name if it names the address that the
    /// connection leads to. An attacker who points a name to their own address can obtain such a certificate.
    ///
    /// - Parameter host: A host name or an address, IPv6 in brackets, in lower case.
    /// - Returns: Whether it is; the common name is ignored.
    func names(_ host: String) -> Bool {
        if let address = try? SocketAddress(ipAddress: host.withoutBrackets, port: 0) {
            return contents(of: .ipAddress).contains { bytes in
                address == (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))
            }
        }
        let host = Array(host.utf8).withoutFinalDot[...]
        return contents(of: .dnsName).contains { Self.covers($0.withoutFinalDot, host) }
    }

    /// The host names and addresses that the certificate is for.
    var names: [String] {
        let hosts = contents(of: .dnsName).map { String(decoding: $0, as: UTF8.self) }
        let addresses = contents(of: .ipAddress).compactMap { bytes in
            try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0).ipAddress
        }
        return hosts + addresses
    }

    /// Whether a certificate's name equals the host, or has `*` for its first label.
    private static func covers(_ name: [UInt8], _ host: ArraySlice<UInt8>) -> Bool {
        let name = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if name.elementsEqual(host) { return true }
        guard name.starts(with: "*.".utf8), let dot = host.firstIndex(of: UInt8(ascii: ".")), dot > host.startIndex
        else { return false }
        return name.dropFirst().elementsEqual(host[dot...])
    }

    private func contents(of type: _SubjectAlternativeName.NameType) -> [[UInt8]] {
        _subjectAlternativeNames().filter { $0.nameType == type }.map { Array($0.contents) }
    }
}

extension [UInt8] {
    fileprivate var withoutFinalDot: [UInt8] { last == UInt8(ascii: ".") ? dropLast() : self }
}

extension String {
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
