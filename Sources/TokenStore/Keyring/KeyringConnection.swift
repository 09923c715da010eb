internal import SecretService

/// The connection to the keyring's service, which all of a process's stores share; it is made when it is first needed.
public final class KeyringConnection: Sendable {
    let service: ServiceConnection
    /// The environment of the process.
    let environment: [String: String]

    /// Creates a connection without contacting anything.
    ///
    /// `environment` must be the process's own, because that is what the libraries read.
    public init(environment: [String: String]) {
        service = ServiceConnection(environment: environment)
        self.environment = environment
    }

    /// Starts opening the connection and the session with the keyring early, because that takes longer than everything
    /// that is read before they are needed.
    public func open() { service.open(deadline: KeyringConfiguration.defaultDeadline) }

    /// Asks the bus for the provider, without starting one; nil if none is running.
    ///
    /// This also finds a provider that hangs, because the bus answers rather than the provider.
    ///
    /// - Parameter deadline: The number of seconds that the bus may take.
    /// - Returns: The provider.
    /// - Throws: `StoreError` if the bus can't be asked.
    public func provider(
        deadline: Double = KeyringConfiguration.defaultDeadline
    ) throws(StoreError) -> KeyringProvider? {
        do throws(ServiceFailure) {
            return try service.providerProcess(deadline: deadline).map { KeyringProvider(processID: $0) }
        } catch {
            throw StoreError(error)
        }
    }
}
