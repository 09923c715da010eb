// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
/// Only tests use it: it brings along all of Foundation, which is twice the size of lanyard.
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")

/// Packages that only other packages use, with one product of each.
///
/// All packages have an exact version in this file, and script/lint-dependencies checks that. Package.resolved can't do
/// it: it names commits, and a mirror's commits can differ. SwiftPM warns about packages that no target uses, so programs
/// depend on these on a platform that they aren't built for.
let pinned = unbuilt([("Atomics", "swift-atomics"), ("Collections", "swift-collections"), ("Logging", "swift-log")])
let pinnedForDevelopment = unbuilt([
    ("Algorithms", "swift-algorithms"),
    ("AsyncAlgorithms", "swift-async-algorithms"),
    ("Configuration", "swift-configuration"),
    ("Tracing", "swift-distributed-tracing"),
    ("StructuredFieldValues", "swift-http-structured-headers"),
    ("Metrics", "swift-metrics"),
    ("NIOExtras", "swift-nio-extras"),
    ("NIOHTTP2", "swift-nio-http2"),
    ("NIOTransportServices", "swift-nio-transport-services"),
    ("Numerics", "swift-numerics"),
    ("ServiceContextModule", "swift-service-context"),
])
func unbuilt(_ products: [(String, String)]) -> [Target.Dependency] {
    products.map { .product(name: $0, package: $1, condition: .when(platforms: [.wasi])) }
}

/// The linker settings that make an executable start fast, stay small and be hard to misuse; script/lint checks the
/// result.
///
/// No test target may depend on such an executable, or the tests would be linked like this, too; all executables are
/// built with the tests anyway.
let small: [LinkerSetting] = [
    // Remove unused sections; there is nothing left to strip later.
    .unsafeFlags(["-Xlinker", "--gc-sections", "-Xlinker", "-s"], .when(configuration: .release)),
    // Nothing looks up symbols in an executable. Relative relocations, of which Swift creates many, take only a bit
    // each: GNU ld packs them that way; gold, swiftc's default, does not.
    .unsafeFlags(
        ["-use-ld=bfd", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"],
        .when(configuration: .release)),
    // Swift's runtime is in C++, and loading the shared library takes longer than returning a cached answer: -lstdc++
    // finds script/link/libstdc++.so first, which stands for the archive.
    .unsafeFlags(
        [
            "-L\(Context.packageDirectory)/script/link", "-Xclang-linker", "-static-libgcc",
            "-Xlinker", "--script=\(Context.packageDirectory)/script/link/layout.ld",
        ], .when(configuration: .release)),
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]),
    // The tests start them thousands of times, and loading Swift's shared libraries takes longer than most of what they
    // do there. In a release, they are linked statically anyway (script/build).
    .unsafeFlags(["-static-stdlib"], .when(configuration: .debug)),
    .linkedLibrary("_FoundationCShims", .when(configuration: .debug)),
    .linkedLibrary("_FoundationCollections", .when(configuration: .debug)),
]

/// Whether script/fuzz runs the build; if so, Tests/Fuzz is an executable that libFuzzer drives, else it tests the stored
/// inputs.
let isFuzzing = Context.environment["LANYARD_FUZZ"] != nil
let fuzzed: [Target.Dependency] = [
    "AWS", "Addresses", "AnswerCache", "Claims", "CredentialEngine", "Google", "HTTP", "JSON", "CommandKit", "Commands",
    "Diagnosis", "ManagedIdentity", "Model", "MicrosoftIdentity", "OAuth", "OtherCaches", "PluginHost", "PluginWire",
    "Rules",
    "Secrets", "SettingsFile",
    "Keyring", "SealedKeyring", "Terminal", "TokenAcquisition", "Tools",
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
]

/// The programs that the end-to-end tests run, besides the executables linked with `small`.
let programs: [Target.Dependency] = ["Seclusion", "StoreProbe", "TestSupport"]

/// Whether the sandbox and the tests are built, too.
///
/// They need more packages than what users install; script/build says so. A package's trait can't do it, because it leaves
/// out no target.
let isDevelopment = Context.environment["LANYARD_DEVELOPMENT"] != nil || isFuzzing
/// The names of the test targets that are built, between blanks; nil for all.
///
/// script/test builds only those that it runs.
let testNames = Context.environment["LANYARD_TESTS"]?.split(separator: " ").map(String.init)
let developmentPackages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-algorithms", exact: "1.2.1"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-transport-services", exact: "1.28.0"),
    .package(url: "https://github.com/apple/swift-numerics", exact: "1.1.1"),
    .package(url: "https://github.com/apple/swift-service-context", exact: "1.5.1"),
]

let development: [Target] = [
    // A local Entra for trying everything without a tenant; it is never linked into what users install to sign in.
    .executableTarget(
        name: "lanyard-sandbox",
        dependencies: [
            "Addresses", "CLinux", "Files", "JSON", "Secrets", "SettingsFile", "Terminal", argumentParser, logging,
            subprocess, system, crypto,
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HummingbirdTLS", package: "hummingbird"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "JWTKit", package: "jwt-kit"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            .product(name: "X509", package: "swift-certificates"), .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOCore", package: "swift-nio"),
        ] + pinnedForDevelopment,
        swiftSettings: strict, linkerSettings: small),

    // Tests. Nothing that can run is mocked: keyrings, authorities, plugins and gits are real processes.
    .testTarget(
        name: "AddressesTests", dependencies: ["Addresses", "TestSupport"], exclude: ["readers.py"],
        swiftSettings: strict),
    .testTarget(
        name: "ToolsTests",
        dependencies: [
            "Addresses", "AnswerCache", "Claims", "CredentialEngine", "JSON", "Model", "Rules", "Secrets",
            "SeededRandom", "Terminal",
            "Tools",
            "Vectors", yams,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "CredentialEngineTests",
        dependencies: [
            "Claims", "CredentialEngine", "JSON", "PluginHost", "Rules", "Secrets",
            "TestSupport", "Tools",
            "TokenAcquisition", "Keyring", "Model", "Vectors",
        ], swiftSettings: strict),
    .testTarget(
        name: "ForwardingTests",
        dependencies: ["Addresses", "Forwarding", "Model", "Rules", "Secrets", "SettingsFile", "Terminal"],
        swiftSettings: strict),
    .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport", system], swiftSettings: strict),
    .testTarget(name: "SecretsTests", dependencies: ["Secrets", "SeededRandom"], swiftSettings: strict),
    .testTarget(
        name: "ClaimsTests", dependencies: ["Claims", "JSON", "Secrets", "SeededRandom", "Vectors"],
        swiftSettings: strict),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", system], swiftSettings: strict),
    .testTarget(
        name: "CommandsTests",
        dependencies: [
            "Addresses", "Claims", "CredentialEngine", "CommandKit", "Commands", "Diagnosis", "PluginHost",
            "PluginWire", "TestSupport",
            "Tools",
            "Rules", "Secrets", "SettingsFile", "Terminal", "TokenAcquisition", "Keyring", "Model", system,
        ], swiftSettings: strict),
    .testTarget(name: "YAMLTests", dependencies: ["SeededRandom", "YAML", yams], swiftSettings: strict),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "SeededRandom"], swiftSettings: strict),
    .testTarget(
        name: "RulesTests",
        dependencies: [
            "Addresses", "Claims", "CredentialEngine", "Model", "PluginHost", "Rules", "Secrets", "SeededRandom",
            "SettingsFile", "Terminal", "TestSupport", "Tools",
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TokenAcquisitionTests",
        dependencies: [
            "Addresses", "AnswerCache", "Claims", "ExamplePlugin", "Files", "JSON", "PluginHost", "PluginWire", "Rules",
            "Secrets",
            "TestSupport", "TokenAcquisition", "Keyring", "Model", "Vectors",
        ],
        swiftSettings: strict),
    .testTarget(
        name: "OAuthTests",
        dependencies: [
            "Addresses", "AuthorityFixture", "HTTP", "JSON", "OAuth", "Secrets", "Vectors", crypto, subprocess, system,
            .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "MicrosoftIdentityTests",
        dependencies: [
            "Addresses", "AuthorityFixture", "Claims", "HTTP", "JSON",
            "MicrosoftIdentity", "OAuth", "PluginConformance", "PluginHost", "PluginKit", "PluginOAuth",
            "PluginWire", "TestSupport", "Secrets", "Vectors", subprocess,
            system,
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        exclude: ["Recorded"], swiftSettings: strict),
    .testTarget(
        name: "OpenIDConnectTests",
        dependencies: [
            "Addresses", "AuthorityFixture", "Claims", "HTTP", "JSON", "OAuth", "OpenIDConnect", "PluginKit",
            "PluginOAuth", "PluginWire", "Secrets", "Vectors", crypto,
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "AWSTests",
        dependencies: [
            "AWS", "Addresses", "AuthorityFixture", "PluginWire", "Secrets", "SeededRandom", "TestSupport",
        ],
        swiftSettings: strict),
    .testTarget(
        name: "ManagedIdentityTests",
        dependencies: [
            "AuthorityFixture", "HTTP", "JSON", "ManagedIdentity", "OAuth", "PluginConformance", "PluginHost",
            "PluginKit", "PluginWire", "Secrets", "Vectors", crypto, system,
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "EntraBrokerTests",
        dependencies: [
            "Addresses", "Claims", "EntraBroker", "JSON", "PluginHost", "PluginKit", "PluginWire", "Secrets",
            "SessionBus", "TestSupport", "Vectors",
        ],
        swiftSettings: strict),
    .testTarget(
        name: "IdentityEndpointTests", dependencies: ["IdentityEndpoint", "JSON", "Secrets", "Vectors"],
        swiftSettings: strict),
    .target(
        name: "AuthorityFixture",
        dependencies: [
            crypto, .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        path: "Tests/AuthorityFixture", swiftSettings: strict),
    .target(
        name: "Vectors", dependencies: ["JSON"], path: "Tests/Vectors",
        exclude: ["README.md", "broker.json", "machine.json", "msal.json", "oauth.json"],
        swiftSettings: strict),
    // The environment of the tests: keyrings, sandboxes, homes, terminals, gits. It isn't a test, so several
    // targets can share it.
    .target(
        name: "TestSupport", dependencies: ["AnswerCache", "Keyring", subprocess, system], path: "Tests/TestSupport",
        exclude: ["Scripts", "clients.txt", "issuers.txt"],
        swiftSettings: strict),
    .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
    .executableTarget(
        name: "StoreProbe",
        dependencies: ["Addresses", "AnswerCache", "SealedKeyring", "SecretService", "Secrets", "Keyring"],
        path: "Tests/StoreProbe",
        swiftSettings: strict),
    .executableTarget(name: "Seclusion", path: "Tests/Seclusion"),
    .executableTarget(
        name: "HTTPProbe",
        dependencies: ["Addresses", "CCurl", "HTTP", "OAuth", "PluginHost", "PluginOAuth", "Secrets"],
        path: "Tests/HTTPProbe", swiftSettings: strict),
    .testTarget(
        name: "HTTPTests",
        dependencies: [
            "Addresses", "AuthorityFixture", "HTTPProbe", "TestSupport", crypto,
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "AnswerCacheTests",
        dependencies: ["AnswerCache", "Files", "JSON", "Secrets", "StoreProbe", "TestSupport"],
        swiftSettings: strict),
    .testTarget(
        name: "KeyringTests",
        dependencies: [
            "Files", "JSON", "Keyring", "Secrets", "StoreProbe", "TestSupport", "Vectors",
        ],
        swiftSettings: strict),
    .testTarget(
        name: "SealedKeyringTests",
        dependencies: ["Addresses", "Keyring", "SealedKeyring", "Secrets", "StoreProbe", "TestSupport"],
        swiftSettings: strict),
    .testTarget(
        name: "OtherCachesTests",
        dependencies: ["Addresses", "JSON", "OtherCaches", "Rules", "Secrets", "Keyring", "Model", "Vectors"],
        exclude: ["Fixtures"], swiftSettings: strict),
    .executableTarget(
        name: "ExamplePlugin", dependencies: ["PluginKit", "PluginWire", "Secrets"], path: "Tests/ExamplePlugin",
        swiftSettings: strict),
    .executableTarget(name: "FakePlugin", path: "Tests/FakePlugin", swiftSettings: strict),
    .testTarget(
        name: "PluginTests",
        dependencies: [
            "Addresses", "Claims", "ExamplePlugin", "FakePlugin", "Files", "JSON", "PluginConformance",
            "PluginHost", "PluginKit", "PluginWire", "Secrets", "SeededRandom", "SettingsFile", "Terminal", "Vectors",
            system,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "SandboxTests",
        dependencies: [
            "TestSupport", crypto, logging, subprocess, system,
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "JWTKit", package: "jwt-kit"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "EndToEndTests",
        dependencies: programs + ["AuthorityFixture", "CLinux", "JSON", "SeededRandom", "Vectors"],
        exclude: ["Golden"],
        swiftSettings: strict),
    // Many processes that must keep step, so these tests run alone (script/test).
    .testTarget(name: "TimingTests", dependencies: programs, swiftSettings: strict),
    isFuzzing
        ? .executableTarget(
            name: "Fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["CorpusTests.swift", "Corpus", "fuzz.dict"],
            swiftSettings: strict,
            // gold, swiftc's default, fails on what the sanitizers add.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
        : .testTarget(
            name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["Driver.swift", "Corpus", "fuzz.dict"], swiftSettings: strict),
]

let package = Package(
    name: "lanyard",
    products: [
        .executable(name: "lanyard", targets: ["lanyard"]),
        .executable(name: "lanyard-authority", targets: ["lanyard-authority"]),
        .library(name: "PluginKit", targets: ["Claims", "PluginKit", "PluginWire", "Secrets"]),
    ] + (isDevelopment ? [.executable(name: "lanyard-sandbox", targets: ["lanyard-sandbox"])] : []),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    ] + (isDevelopment ? developmentPackages : []),
    targets: [
        // The host, which answers git. No HTTP below this line.
        .executableTarget(
            name: "lanyard", dependencies: ["Commands"], swiftSettings: strict, linkerSettings: small),
        // The command line.
        .target(
            name: "Commands",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "CLinux", "CommandKit", "CredentialEngine", "Diagnosis",
                "Files", "Forwarding", "JSON", "Keyring", "Model", "OtherCaches", "PluginConformance", "PluginHost",
                "PluginWire", "Rules", "Secrets", "SealedKeyring", "SecretService", "SettingsFile", "Terminal",
                "TokenAcquisition", "Tools", argumentParser, system,
            ],
            swiftSettings: strict),
        // doctor, explain and status.
        .target(
            name: "Diagnosis",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "CommandKit", "CredentialEngine", "Files", "Forwarding",
                "JSON", "Keyring", "Model", "PluginHost", "PluginWire", "Rules", "Secrets", "SealedKeyring",
                "SecretService",
                "SettingsFile", "Terminal", "TokenAcquisition", "Tools", argumentParser,
            ],
            swiftSettings: strict),
        // What commands share: the session, the user, messages.
        .target(
            name: "CommandKit",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "CLinux", "CredentialEngine", "Files", "Forwarding",
                "JSON", "Keyring", "Model", "OtherCaches", "PluginHost", "PluginWire", "Rules", "Secrets",
                "SealedKeyring", "SecretService", "SettingsFile", "Terminal", "TokenAcquisition", "Tools",
                argumentParser,
                subprocess, system,
            ],
            swiftSettings: strict),
        .target(
            name: "Tools",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "Files", "Forwarding", "JSON", "Model", "Rules", "Secrets",
                "SettingsFile",
                "Terminal", "YAML",
            ],
            swiftSettings: strict),
        .target(
            name: "CredentialEngine",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "Files", "Forwarding", "JSON", "PluginHost", "PluginWire",
                "Rules", "Secrets",
                "TokenAcquisition", "Keyring", "Model",
            ],
            swiftSettings: strict),
        .target(
            name: "TokenAcquisition",
            dependencies: [
                "Addresses", "AnswerCache", "Claims", "Files", "JSON", "Keyring", "Model", "PluginHost", "PluginWire",
                "Rules",
                "Secrets", "SettingsFile",
            ],
            swiftSettings: strict),
        .target(
            name: "Forwarding",
            dependencies: ["Addresses", "CLinux", "Files", "Model", "Rules", "Secrets", system], swiftSettings: strict),
        .target(name: "Model", dependencies: ["Addresses", "Claims", "Secrets"], swiftSettings: strict),
        .target(
            name: "Rules",
            dependencies: ["Addresses", "Claims", "Files", "Model", "Secrets", "SettingsFile", "Terminal"],
            swiftSettings: strict),
        .target(
            name: "SettingsFile", dependencies: ["Addresses", "Files", "JSON", "Secrets", "Terminal"],
            swiftSettings: strict),
        .target(
            name: "Keyring",
            dependencies: [
                "Addresses", "AnswerCache", "Files", "JSON", "Secrets",
            ],
            swiftSettings: strict),
        .target(
            name: "AnswerCache", dependencies: ["Addresses", "CLinux", "Files", "JSON", "Secrets", crypto],
            swiftSettings: strict),
        .target(
            name: "SecretService",
            dependencies: ["AnswerCache", "CGLib", "CLinux", "Files", "JSON", "Secrets", "Keyring"],
            swiftSettings: strict),
        .target(
            name: "SealedKeyring",
            dependencies: [
                "Addresses", "AnswerCache", "CLinux", "Files", "JSON", "Keyring", "Secrets", crypto,
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "OtherCaches",
            dependencies: ["Addresses", "Claims", "JSON", "Keyring", "Model", "Secrets", "YAML"],
            swiftSettings: strict),
        .target(
            name: "PluginConformance",
            dependencies: ["Addresses", "PluginHost", "PluginWire", "Secrets", "SettingsFile", subprocess, system],
            swiftSettings: strict),
        .target(
            name: "PluginHost",
            dependencies: [
                "Addresses", "Claims", "Files", "PluginWire", "Secrets", "SettingsFile", "Terminal", subprocess, system,
            ],
            swiftSettings: strict),
        .target(name: "PluginKit", dependencies: ["CLinux", "PluginWire", "Secrets", system], swiftSettings: strict),
        .target(name: "PluginWire", dependencies: ["Addresses", "Claims", "Secrets"], swiftSettings: strict),
        .target(name: "Claims", dependencies: ["Addresses", "JSON", "Secrets"], swiftSettings: strict),
        .target(name: "Files", dependencies: ["Addresses", "CLinux", system], swiftSettings: strict),
        .target(name: "Secrets", swiftSettings: strict),
        .target(name: "Addresses", swiftSettings: strict),
        .target(name: "JSON", swiftSettings: strict),
        .target(name: "CYAML", linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "YAML", dependencies: ["CYAML"], swiftSettings: strict),
        .target(name: "CGLib", linkerSettings: [.linkedLibrary("dl")]),
        // Beside its functions it sees to it that arguments arrive, in whatever it is linked into: PluginKit and the
        // sandbox depend on it for nothing else.
        .target(name: "CLinux"),
        .target(name: "Terminal", dependencies: ["Addresses", "CLinux", "Secrets", system], swiftSettings: strict),

        // The first-party plugins: one executable, one target each.
        .executableTarget(
            name: "lanyard-authority",
            dependencies: [
                "AWS", "Addresses", "CLinux", "CredentialSource", "EntraBroker", "Google", "HTTP", "IdentityEndpoint",
                "ManagedIdentity", "MicrosoftIdentity", "OpenIDConnect", "PluginKit", "PluginWire", system,
            ] + pinned,
            swiftSettings: strict, linkerSettings: small),
        // Not a plugin, but it links HTTP, too: it gets tokens from lanyard for programs that request them over HTTP.
        .target(
            name: "IdentityEndpoint",
            dependencies: ["Addresses", "CLinux", "JSON", "OAuth", "Secrets", subprocess, system],
            swiftSettings: strict),
        .target(
            name: "EntraBroker",
            dependencies: [
                "Addresses", "Claims", "JSON", "MicrosoftIdentity", "OAuth", "PluginKit", "PluginWire",
                "Secrets", "SessionBus",
            ],
            path: "plugins/entra-broker",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(
            name: "CredentialSource",
            dependencies: ["Addresses", "JSON", "PluginKit", "PluginWire", "Secrets", subprocess, system],
            path: "plugins/source",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(name: "SessionBus", dependencies: ["Addresses", "CGLib"], swiftSettings: strict),
        .target(
            name: "MicrosoftIdentity",
            dependencies: [
                "Addresses", "Claims", "HTTP", "JSON", "OAuth", "PluginKit", "PluginOAuth", "PluginWire",
                "Secrets",
            ],
            swiftSettings: strict),
        .target(
            name: "OpenIDConnect",
            dependencies: [
                "Addresses", "Claims", "HTTP", "JSON", "OAuth", "PluginKit", "PluginOAuth", "PluginWire", "Secrets",
                crypto,
            ],
            path: "plugins/oauth",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(
            name: "ManagedIdentity",
            dependencies: [
                "Addresses", "Files", "HTTP", "JSON", "OAuth", "PluginKit", "PluginOAuth", "PluginWire", "Secrets",
                crypto,
                system,
            ],
            path: "plugins/managed-identity",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(
            name: "AWS",
            dependencies: [
                "Addresses", "Claims", "Files", "HTTP", "JSON", "OAuth", "PluginKit", "PluginOAuth", "PluginWire",
                "Secrets",
                crypto,
            ],
            path: "plugins/aws",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(
            name: "Google",
            dependencies: [
                "AWS", "Addresses", "Files", "HTTP", "JSON", "OAuth", "PluginKit", "PluginOAuth", "PluginWire",
                "Secrets",
            ],
            path: "plugins/google",
            exclude: ["plugin.toml"], swiftSettings: strict),
        .target(
            name: "PluginOAuth",
            dependencies: [
                "Addresses", "Claims", "Files", "HTTP", "JSON", "OAuth", "PluginKit", "PluginWire", "Secrets",
                subprocess,
                system,
            ],
            swiftSettings: strict),
        .target(
            name: "HTTP",
            dependencies: [
                "Addresses", "CCurl", "CLinux", "Files", "Secrets", crypto,
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict),
        .target(name: "CCrypto", linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "OAuth",
            dependencies: [
                "Addresses", "CCrypto", "CLinux", "Files", "HTTP", "JSON", "Secrets", crypto, system,
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict),
    ] + (isDevelopment ? development.filter { $0.type != .test || testNames?.contains($0.name) ?? true } : [])
)

// ArgumentParser finds the options of commands by reflection. Elsewhere, the names and types of all properties and cases would only make the
// programs larger, by half a megabyte in lanyard.
for target in package.targets where ![.test, .plugin].contains(target.type) {
    guard !["CommandKit", "Commands", "Diagnosis", "lanyard-sandbox"].contains(target.name) else { continue }
    target.swiftSettings?.append(
        .unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"], .when(configuration: .release)))
}
