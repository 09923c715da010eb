import Addresses
import CLinux
import Glibc
import Terminal
import TokenStore

extension CommandContext {
    /// Returns the context of this process in the user's session of now, which the agent that started it may not have:
    /// it may have been started before that, or in an earlier one.
    ///
    /// The user's service manager is told of a desktop's variables. Whoever came by ssh, or is at a terminal, has a session
    /// of their own. A session bus is only replaced if it is gone.
    func inPresentSession() async -> CommandContext {
        guard variable("SSH_CONNECTION") == nil, !ControllingTerminal.isThere, let systemctl = program("systemctl"),
            let text = await Program.output(systemctl, ["--user", "show-environment"])
        else { return self }
        let pairs = text.pieces(between: "\n").compactMap { $0.cut(at: "=") }
        // Values with other characters than these variables have are quoted.
        let present = Dictionary(pairs.map { (String($0.0), String($0.1)) }) { $1 }.filter { !$0.value.hasBytes("'") }
        var context = self
        if Self.displays.contains(where: { present[$0] != nil }) {
            for name in Self.displays + ["XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"] {
                context.set(name, to: present[name])
            }
        }
        if let bus = present[Self.bus], variable(Self.bus)?.isDeadBus == true { context.set(Self.bus, to: bus) }
        context.keyring = KeyringConnection(environment: context.environment)
        return context
    }

    /// Changes a variable, also for the programs that are started from here.
    private mutating func set(_ name: String, to value: String?) {
        environment[name] = value
        if let value { setenv(name, value, 1) } else { unsetenv(name) }
    }

    private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
    private static let bus = "DBUS_SESSION_BUS_ADDRESS"
}

extension String {
    /// Whether it is the address of a bus at a socket where nobody listens.
    fileprivate var isDeadBus: Bool {
        guard let (kind, rest) = cut(at: "="), kind.isSame(as: "unix:path"), let path = rest.pieces(between: ",").first
        else { return false }
        let descriptor = lanyard_socket_connect(String(path), 1000)
        if descriptor >= 0 { close(descriptor) }
        return [-ENOENT, -ECONNREFUSED].contains(descriptor)
    }
}
