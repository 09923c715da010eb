internal import CSecret
internal import Crypto
internal import Glibc

/// This side of a Diffie-Hellman agreement as the Secret Service's `dh-ietf1024-sha256-aes128-cbc-pkcs7` has it.
///
/// The numbers are libgcrypt's, the private one in memory that is not paged out. libsecret does the same with a private
/// number as long as the prime, which takes libgcrypt five times as long and makes nothing stronger.
struct KeyExchange: ~Copyable, Sendable {
    /// How long a private number is, in bits: twice the group's strength of 80, which is what goes with a prime of 1024
    /// (NIST SP 800-57 part 1, 5.6.1.1; RFC 3766, 5).
    private static let privateBits: UInt32 = 160
    /// How long a number of the group is.
    private static let byteCount = 128
    /// The Second Oakley Group's prime (RFC 2409, 6.2), of which half of one less is prime too.
    private static let prime: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x0f, 0xda, 0xa2, 0x21, 0x68, 0xc2, 0x34,
        0xc4, 0xc6, 0x62, 0x8b, 0x80, 0xdc, 0x1c, 0xd1, 0x29, 0x02, 0x4e, 0x08, 0x8a, 0x67, 0xcc, 0x74,
        0x02, 0x0b, 0xbe, 0xa6, 0x3b, 0x13, 0x9b, 0x22, 0x51, 0x4a, 0x08, 0x79, 0x8e, 0x34, 0x04, 0xdd,
        0xef, 0x95, 0x19, 0xb3, 0xcd, 0x3a, 0x43, 0x1b, 0x30, 0x2b, 0x0a, 0x6d, 0xf2, 0x5f, 0x14, 0x37,
        0x4f, 0xe1, 0x35, 0x6d, 0x6d, 0x51, 0xc2, 0x45, 0xe4, 0x85, 0xb5, 0x76, 0x62, 0x5e, 0x7e, 0xc6,
        0xf4, 0x4c, 0x42, 0xe9, 0xa6, 0x37, 0xed, 0x6b, 0x0b, 0xff, 0x5c, 0xb6, 0xf4, 0x06, 0xb7, 0xed,
        0xee, 0x38, 0x6b, 0xfb, 0x5a, 0x89, 0x9f, 0xa5, 0xae, 0x9f, 0x24, 0x11, 0x7c, 0x4b, 0x1f, 0xe6,
        0x49, 0x28, 0x66, 0x51, 0xec, 0xe6, 0x53, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ]

    /// What the other side is told.
    let publicKey: [UInt8]
    private let modulus: BigNumber
    private let exponent: BigNumber

    /// Draws a private number.
    init() throws(ProviderFailure) {
        let modulus = try BigNumber(Self.prime)
        let exponent = try BigNumber(secretOf: Self.privateBits)
        let power = try BigNumber(of: Self.byteCount)
        let generator = try BigNumber([2])
        gcry_mpi_randomize(exponent.pointer, Self.privateBits, GCRY_STRONG_RANDOM)
        gcry_mpi_powm(power.pointer, generator.pointer, exponent.pointer, modulus.pointer)
        publicKey = try power.withBytes(count: Self.byteCount) { [UInt8]($0) }
        self.modulus = modulus
        self.exponent = exponent
    }

    /// The key that both sides can compute and nobody else.
    ///
    /// - Throws: where what the other side told is 0, 1, or the prime less one or more: then everybody can compute it.
    func key(with peer: [UInt8]) throws(ProviderFailure) -> SymmetricKey {
        let noKey = ProviderFailure.found(StoreError(.broken, detail: "the provider's public key is none"))
        guard peer.count <= Self.byteCount else { throw noKey }
        let base = try BigNumber(peer)
        let most = try BigNumber(Self.prime)
        gcry_mpi_sub_ui(most.pointer, most.pointer, 1)
        guard gcry_mpi_cmp_ui(base.pointer, 1) > 0, gcry_mpi_cmp(base.pointer, most.pointer) < 0 else { throw noKey }
        let shared = try BigNumber(secretOf: UInt32(Self.byteCount * 8))
        gcry_mpi_powm(shared.pointer, base.pointer, exponent.pointer, modulus.pointer)
        return try shared.withBytes(count: Self.byteCount) { Self.key(of: $0) }
    }

    /// Does with numbers that are no secret what a key and a secret are done with later: libraries take long to do
    /// anything for the first time, and there is nothing else to do while the provider computes.
    func rehearse() {
        let key = publicKey.withUnsafeBytes { Self.key(of: $0) }
        _ = key.open(publicKey, iv: Array(publicKey.prefix(16)))
    }

    private static func key(of shared: UnsafeRawBufferPointer) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: shared), outputByteCount: 16)
    }
}

/// A number of libgcrypt's, given back, and where it is secret wiped, at the end of the scope.
private struct BigNumber: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Reads an unsigned number, most significant byte first.
    init(_ bytes: [UInt8]) throws(ProviderFailure) {
        var number: OpaquePointer?
        guard gcry_mpi_scan(&number, GCRYMPI_FMT_USG, bytes, bytes.count, nil) == 0, let number else {
            throw .noMemory
        }
        pointer = number
    }

    init(of byteCount: Int) throws(ProviderFailure) {
        guard let number = gcry_mpi_new(UInt32(byteCount * 8)) else { throw .noMemory }
        pointer = number
    }

    init(secretOf bits: UInt32) throws(ProviderFailure) {
        guard let number = gcry_mpi_snew(bits) else { throw .noMemory }
        pointer = number
    }

    deinit { gcry_mpi_release(pointer) }

    /// Lends the number's bytes, most significant first, after as many zeros as it takes; they are wiped afterwards.
    func withBytes<Result>(count: Int, _ body: (UnsafeRawBufferPointer) -> Result) throws(ProviderFailure) -> Result {
        let result: Result? = withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            defer { explicit_bzero(start, count) }
            var length = 0
            guard gcry_mpi_print(GCRYMPI_FMT_USG, start, count, &length, pointer) == 0 else { return nil }
            memmove(start + count - length, start, length)
            memset(start, 0, count - length)
            return body(UnsafeRawBufferPointer(buffer))
        }
        guard let result else { throw .noMemory }
        return result
    }
}

extension ProviderFailure {
    fileprivate static let noMemory = ProviderFailure.found(StoreError(.broken, detail: "no memory for a key"))
}

extension SymmetricKey {
    /// Decrypts a secret that was encrypted with AES-128 in CBC mode and padded after PKCS #7 (RFC 5652, 6.3); nil where
    /// it was not, or with another key.
    func open(_ secret: [UInt8], iv: [UInt8]) -> [UInt8]? {
        let block = 16
        guard iv.count == block, !secret.isEmpty, secret.count.isMultiple(of: block) else { return nil }
        var handle: OpaquePointer?
        guard gcry_cipher_open(&handle, Int32(GCRY_CIPHER_AES.rawValue), Int32(GCRY_CIPHER_MODE_CBC.rawValue), 0) == 0,
            let handle
        else { return nil }
        defer { gcry_cipher_close(handle) }
        var text = secret
        let isDone = withUnsafeBytes { key in
            gcry_cipher_setkey(handle, key.baseAddress, key.count) == 0
                && gcry_cipher_setiv(handle, iv, iv.count) == 0
                && gcry_cipher_decrypt(handle, &text, text.count, nil, 0) == 0
        }
        guard isDone, let padding = text.last, (1...block).contains(Int(padding)),
            text.suffix(Int(padding)).allSatisfy({ $0 == padding })
        else { return nil }
        text.removeLast(Int(padding))
        return text
    }
}
