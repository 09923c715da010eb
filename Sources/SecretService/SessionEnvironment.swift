internal import Glibc

/// The environment variables that matter for the keyring before anything is contacted.
struct SessionEnvironment: Sendable {
    let variables: [String: String]

    /// Whether a prompt would open on a screen that the user isn't looking at.
    var isRemote: Bool { value("SSH_CONNECTION") != nil }

    /// Detects settings that would make libsecret hang or start a bus of its own.
    func check() throws(ServiceFailure) {
        let backend = variables["SECRET_BACKEND"] ?? ""
        guard ["", "service", "file"].contains(backend) else {
            throw ServiceFailure(.badBackend, detail: "SECRET_BACKEND is \(backend)")
        }
        guard hasBus else { throw ServiceFailure(.noSessionBus, detail: "no session bus is announced") }
    }

    /// Whether the environment has a bus; without one, GLib would run dbus-launch, which may leave a stray bus behind.
    private var hasBus: Bool {
        if let address = value("DBUS_SESSION_BUS_ADDRESS") {
            return !address.hasPrefix("autolaunch:") && !address.hasPrefix("disabled:")
        }
        guard let directory = value("XDG_RUNTIME_DIR") else { return false }
        var status = stat()
        return stat(directory + "/bus", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
