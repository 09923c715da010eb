import CredentialProtocol
import TokenAcquisition
import TokenStore

/// `erase`: forgets what a consumer found not to work.
struct CredentialErase {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    func run() throws(Failure) {
        let request = try context.readRequest()
        let query = PasswordQuery(request)
        // A script's own request names a token and no place.
        guard query != nil || (request.scheme == nil && request.host == nil && !request.wish.isEmpty) else { return }
        let opened = Result { () throws(Failure) in try Session(context) }
        if mayMeanToken(request, opened) { context.answers.forget() }
        let session = try opened.get()
        // git tells what the server missed in the token here: the `get` before knew of no token yet.
        if let wanted = (try? session.resolveHeedingServer(request)) ?? (try? session.resolve(request)) {
            do throws(AcquisitionError) {
                try session.acquirer.reject(request.credential ?? request.password, for: wanted)
            } catch {
                throw Failure(error, request: wanted, url: request.place)
            }
            return
        }
        guard let query else { return }
        do throws(StoreError) {
            _ = try session.passwords.erase(query)
        } catch {
            throw Failure(error)
        }
    }

    /// Whether a token may have been refused, as any may if the rules can't be read.
    ///
    /// It must not be answered again, whatever is stored by now: one that isn't stored any more may be in an answer that is
    /// on its way.
    private func mayMeanToken(_ request: CredentialRequest, _ session: Result<Session, Failure>) -> Bool {
        do throws(Failure) {
            return try session.get().resolve(request) != nil
        } catch {
            return true
        }
    }
}
