import Foundation
import TestSupport
import Testing

/// The machine's broker while a user waits: it and its plugin have two seconds, including their start.
@Suite(.timeLimit(.minutes(5)))
struct BrokerTurnTests {
    private static let path = "common/hello.git"

    @Test func `the broker's window comes in the place of the browser`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            try await broker.wake(on: world.keyring)
            try broker.set(["silent": IdentityBroker.error(2, "AADSTS50078: prove it again")])
            let browser = try world.decliningBrowser(as: World.alice)
            let desktop = machine.merging(browser) { $1 }.merging(["DISPLAY": ":9"]) { $1 }
            let ended = try await world.get(Self.path, desktop)
            #expect(ended.status == 0 && ended.value("username") == World.alice, "\(ended)")
            #expect(ended.errors.contains("in the window of the machine's identity broker"), "\(ended)")
            #expect(
                broker.methods == ["getAccounts", "acquireTokenSilently", "getAccounts", "acquireTokenInteractively"])
            #expect(world.asked.isEmpty)
            #expect(try await world.lanyard(["export"], machine).output.contains("lanyard_broker"))

            // A refusal there is final.
            _ = try await world.lanyard(["logout"], machine)
            try broker.set(["interactive": IdentityBroker.error(7, "")])
            let refused = try await world.get(Self.path, desktop)
            #expect(refused.status != 0, "\(refused)")
            #expect(world.asked.isEmpty)
            // Any other error is no reason not to try another way.
            try broker.set(["interactive": IdentityBroker.error(9, "AADSTS50011: redirect mismatch")])
            let signedIn = try await world.get(
                Self.path, machine.merging(world.browser(as: World.alice)) { $1 }.merging(["DISPLAY": ":9"]) { $1 })
            #expect(signedIn.status == 0, "\(signedIn)")
            #expect(try await !world.lanyard(["export"], machine).output.contains("lanyard_broker"))
            let doctor = try await world.lanyard(["doctor", "--all"], machine)
            #expect(doctor.output.contains("https://login.microsoftonline.com/common/oauth2/nativeclient"), "\(doctor)")
        }
    }

    @Test func `login takes the broker's account, or another if that is named`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            try await broker.wake(on: world.keyring)
            let both = machine.merging(world.browser(as: "bob@contoso.example")) { $1 }
            let login = try await world.lanyard(["login", url], both)
            #expect(login.status == 0 && login.errors.contains("signed in as \(World.alice)"), "\(login)")
            #expect(try await world.sandbox.authorityRequests().signIns.isEmpty)
            broker.clearCalls()
            let other = try await world.lanyard(["login", url, "--account", "bob@contoso.example"], both)
            #expect(other.status == 0 && other.errors.contains("signed in as bob@contoso.example"), "\(other)")
            #expect(broker.methods == ["getAccounts"])
            let only = try await world.lanyard(
                ["login", url, "--flow", "broker", "--account", "bob@contoso.example"], both)
            #expect(only.status != 0, "\(only)")
        }
    }

    @Test(arguments: ["hang", "die", "empty"])
    func `a broker that fails delays the browser, and isn't asked again if it hangs`(_ what: String) async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            try broker.set(["silent": what])
            let both = machine.merging(world.browser(as: World.alice)) { $1 }
            let clone = try await world.git(
                ["clone", "--quiet", "\(world.sandbox.resource)/\(Self.path)", "hello"], both)
            #expect(clone.status == 0, "\(clone)")
            #expect(try await world.sandbox.authorityRequests().signIns.count == 1)
            let calls = broker.calls.count
            _ = try await world.lanyard(["logout", "--forget"], machine)
            #expect(try await world.get(Self.path, both).status == 0)
            #expect(broker.calls.count == calls)
        }
    }

    @Test func `a broker that goes away leaves its token to its end, and then the browser`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            try broker.redeeming(lifetime: 200)
            let first = try await world.get(Self.path, machine)
            #expect(first.status == 0, "\(first)")
            try broker.set(["silent": IdentityBroker.error(3, "")])
            // It is due for renewal, but still valid.
            let offline = try await world.get(Self.path, machine)
            #expect(offline.value("password") == first.value("password"), "\(offline)")
            // An outage is detected once for all requests within three seconds.
            try await Task.sleep(for: .seconds(4))
            try broker.set(["silent": IdentityBroker.error(19, "")])
            let signedIn = try await world.get(Self.path, machine.merging(world.browser(as: World.alice)) { $1 })
            #expect(signedIn.status == 0 && signedIn.value("password") != first.value("password"), "\(signedIn)")
        }
    }

    @Test func `a lanyard that is killed takes the broker's window with it`() async throws {
        try await World.withBroker(.intune3) { world, broker, machine in
            try await broker.wake(on: world.keyring)
            try broker.set(["silent": IdentityBroker.error(2, ""), "interactive": "hang"])
            let desktop = machine.merging(["DISPLAY": ":9"]) { $1 }
            for signal in [SIGTERM, SIGKILL] {
                broker.clearCalls()
                _ = try await TestSupport.with(
                    "\(world.folder)/bin/lanyard", ["login", "\(world.sandbox.resource)/\(Self.path)"],
                    environment: world.environment.merging(desktop) { $1 }, endedBy: signal
                ) {
                    while !broker.methods.contains("acquireTokenInteractively") {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                while !broker.methods.contains("cancelInteractiveFlow") { try await Task.sleep(for: .milliseconds(50)) }
            }
        }
    }
}
