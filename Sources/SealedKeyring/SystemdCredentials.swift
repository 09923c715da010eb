internal import CLinux
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
import JSON
import Keyring
import Secrets

/// systemd's service that encrypts for the calling user (systemd-creds(1), `io.systemd.Credentials`), asked by Varlink.
///
/// What it encrypts is bound to the machine's secret, its TPM if it has one, the machine's ID, and the user's name and
/// number. Only scope `user` is used, without a user's number or a time, for which it would ask an administrator.
struct SystemdCredentials: Sendable {
    /// Where the service listens.
    static let socket = "/run/systemd/io.systemd.Credentials"
    /// The longest answer, in bytes.
    private static let longest = 1 << 16
    let path: String
    private let seconds: Double

    /// Creates a client that waits for some seconds: a TPM takes its time, and each user has only few connections.
    init(socket: String = Self.socket, seconds: Double = 20) { (path, self.seconds) = (socket, seconds) }

    func encrypt(_ bytes: [UInt8], named name: String) throws(KeyringError) -> String {
        let parameters: JSONValue = [
            "name": .string(name), "data": .string(Data(bytes).base64EncodedString()), "scope": "user",
        ]
        guard let blob = try call("Encrypt", parameters)["blob"]?.string else { throw failure("gave no answer") }
        return blob
    }

    func decrypt(_ blob: String, named name: String) throws(KeyringError) -> [UInt8] {
        let parameters: JSONValue = ["name": .string(name), "blob": .string(blob), "scope": "user"]
        guard let data = try call("Decrypt", parameters)["data"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
            throw failure("gave no answer")
        }
        return Array(data)
    }

    private func call(_ method: String, _ parameters: JSONValue) throws(KeyringError) -> JSONValue {
        let request: JSONValue = [
            "method": .string("io.systemd.Credentials.\(method)"), "parameters": parameters,
        ]
        let end = DispatchTime.now() + seconds
        while true {
            // It closes connections beyond those that a user may have.
            if let answer = try exchange(request.encoded() + [0], until: end) { return try result(answer) }
            guard DispatchTime.now() < end else { throw failure("does not answer") }
            usleep(50_000)
        }
    }

    private func result(_ answer: [UInt8]) throws(KeyringError) -> JSONValue {
        guard let json = JSONValue(bytes: answer, atMost: Self.longest), json.members != nil else {
            throw failure("gave no answer")
        }
        guard let error = json["error"]?.string else { return json["parameters"] ?? [:] }
        let number = json["parameters"]?["errno"]?.integer
        switch error {
        case "io.systemd.Credentials.BadFormat":
            throw failure(
                "can't decrypt the key: it was encrypted on another machine or for another user, or before the user was "
                    + "renamed or the TPM was cleared")
        case "io.systemd.Credentials.NoSuchUser": throw failure("does not know this user")
        case "io.systemd.Credentials.NameMismatch": throw failure("has the key of another keyring")
        case "org.varlink.service.MethodNotFound", "org.varlink.service.InvalidParameter":
            throw failure("is older than systemd 256, which can't encrypt for users")
        case "io.systemd.System" where number == 2: throw failure("has lost the machine's secret")
        case "io.systemd.System": throw failure("failed: \(String(cString: strerror(CInt(clamping: number ?? 0))))")
        default: throw failure("failed: \(error.displayable(limit: 100))")
        }
    }

    /// Sends a message and returns the one that is sent back, without the byte that ends it; nil if the connection was closed.
    private func exchange(_ message: [UInt8], until end: DispatchTime) throws(KeyringError) -> [UInt8]? {
        let descriptor = lanyard_socket_connect(path, 2000)
        guard descriptor >= 0 else {
            throw failure("can't be reached: \(String(cString: strerror(-descriptor)))")
        }
        defer { close(descriptor) }
        var rest = message[...]
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= Self.longest {
            let left = Int64(bitPattern: end.uptimeNanoseconds &- DispatchTime.now().uptimeNanoseconds)
            guard left > 0 else { throw failure("does not answer") }
            var waiting = pollfd(fd: descriptor, events: Int16(rest.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0)
            guard poll(&waiting, 1, CInt(clamping: left / 1_000_000 + 1)) > 0 else { continue }
            if !rest.isEmpty, waiting.revents & Int16(POLLOUT) != 0 {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN && errno != EINTR { return nil }
                continue
            }
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return nil }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { return nil }
                continue
            }
            if let nul = chunk[..<count].firstIndex(of: 0) { return bytes + chunk[..<nul] }
            bytes += chunk[..<count]
        }
        throw failure("answers at too great length")
    }

    private func failure(_ what: String) -> KeyringError {
        KeyringError(.sealedElsewhere, detail: "systemd's credentials service \(what)")
    }
}
