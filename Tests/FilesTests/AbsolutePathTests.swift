import Files
import TestSupport
import Testing

/// The folders that a user's environment names.
@Suite struct AbsolutePathTests {
    @Test func `a folder is where its variable says, else below HOME, and relative paths count for nothing`() {
        let home = ["HOME": "/h"]
        #expect(home.cacheHome == "/h/.cache" && home.configHome == "/h/.config")
        #expect(home.stateFolder == "/h/.local/state/lanyard")
        let named = ["HOME": ".", "XDG_CACHE_HOME": "/a", "XDG_CONFIG_HOME": "/b", "XDG_STATE_HOME": "/c"]
        #expect(named.cacheHome == "/a" && named.configHome == "/b" && named.stateFolder == "/c/lanyard")
        let relative = ["HOME": "h", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ".", "XDG_STATE_HOME": "../c"]
        #expect(relative.cacheHome == nil && relative.configHome == nil && relative.stateFolder == nil)
        // To the kernel a path begins with a byte, whatever combines with it.
        #expect(["HOME": "/\u{301}"].configHome == "/\u{301}/.config")
    }

    @Test func `the runtime folder counts only if it is this user's`() async throws {
        try await ScratchDirectory.with { scratch in
            #expect(["XDG_RUNTIME_DIR": scratch.path].ownRuntimeFolder == scratch.path)
            #expect(["XDG_RUNTIME_DIR": scratch.path + "/missing"].ownRuntimeFolder == nil)
        }
        #expect(["XDG_RUNTIME_DIR": "."].ownRuntimeFolder == nil && [:].ownRuntimeFolder == nil)
    }
}
