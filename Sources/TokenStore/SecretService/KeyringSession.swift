internal import CSecret
internal import CredentialProtocol
internal import Logging

/// The Secret Service for the length of one operation, on one thread and within one deadline.
struct KeyringSession: ~Copyable {
    let service: GRef<SecretService>
    let watchdog: Watchdog
    let configuration: KeyringConfiguration
    let mayPrompt: Bool

    /// Runs an operation; once more where the provider vanishes during it, because one that crashed is started anew.
    ///
    /// Operations therefore have to bear being done twice.
    static func run<Result>(
        _ configuration: KeyringConfiguration, logger: Logger,
        _ body: (borrowing KeyringSession) throws(ProviderFailure) -> Result
    ) throws(StoreError) -> Result {
        GLibLog.route(to: logger)
        do throws(ProviderFailure) {
            let environment = SessionEnvironment.process
            try environment.check()
            let watchdog = Watchdog(seconds: configuration.deadline)
            do throws(ProviderFailure) {
                return try body(KeyringSession(configuration, watchdog, environment))
            } catch  where error.isVanished {
                logger.debug("the keyring's provider vanished: \(error.storeError.detail.displayable())")
                secret_service_disconnect()
                return try body(KeyringSession(configuration, watchdog, environment))
            }
        } catch {
            throw error.storeError
        }
    }

    private init(
        _ configuration: KeyringConfiguration, _ watchdog: Watchdog, _ environment: SessionEnvironment
    ) throws(ProviderFailure) {
        let pointer = try calling { secret_service_get_sync(SECRET_SERVICE_NONE, watchdog.cancellable, $0) }
        guard let service = GRef(owned: pointer) else { throw .found(StoreError(.broken, detail: "no service")) }
        self.service = service
        self.watchdog = watchdog
        self.configuration = configuration
        mayPrompt = configuration.mayPrompt && !environment.isRemote
    }
}

extension KeyringSession {
    /// A way to look for items; raw values are libsecret's flags.
    enum Search {
        case attributes, secrets

        fileprivate var flags: SecretSearchFlags {
            let all = SECRET_SEARCH_ALL.rawValue
            return SecretSearchFlags(self == .secrets ? all | SECRET_SEARCH_LOAD_SECRETS.rawValue : all)
        }
    }

    /// Finds the items that have at least these attributes, locked ones too, whatever their schema.
    ///
    /// Never unlocks: libsecret swallows the errors of unlocking in a search.
    func items(with attributes: [String: String], _ search: Search) throws(ProviderFailure) -> [KeyringItem] {
        let table = try Self.table(attributes)
        let list = try calling {
            secret_service_search_sync(
                service.pointer, nil, table.pointer, search.flags, watchdog.cancellable, $0)
        }
        var items: [KeyringItem] = []
        var node = list
        while let current = node {
            if let data = current.pointee.data {
                items.append(KeyringItem(owned: data.assumingMemoryBound(to: SecretItem.self)))
            }
            node = current.pointee.next
        }
        g_list_free(list)
        return items
    }

    /// Creates an item in the configured collection, or where `replacing` in place of one with *at least* its attributes.
    func create(
        _ schema: UnsafePointer<SecretSchema>, _ attributes: [String: String], label: String,
        _ content: borrowing SecretContent, replacing: Bool = true
    ) throws(ProviderFailure) {
        let table = try Self.table(attributes)
        guard !replacing else {
            try succeeding {
                secret_service_store_sync(
                    service.pointer, schema, table.pointer, configuration.collection.rawValue, label, content.pointer,
                    watchdog.cancellable, $0)
            }
            return
        }
        guard let collection = try collection() else { throw .found(StoreError(.noDefaultCollection)) }
        let item = try calling {
            secret_item_create_sync(
                collection.pointer, schema, table.pointer, label, content.pointer, SECRET_ITEM_CREATE_NONE,
                watchdog.cancellable, $0)
        }
        guard GRef(owned: item) != nil else { throw .found(StoreError(.broken, detail: "no item was made")) }
    }

    /// Replaces an item's secret.
    func replaceSecret(of item: KeyringItem, _ content: borrowing SecretContent) throws(ProviderFailure) {
        try succeeding { secret_item_set_secret_sync(item.pointer, content.pointer, watchdog.cancellable, $0) }
    }

    /// Deletes an item; one that is gone already is deleted too.
    func delete(_ item: KeyringItem) throws(ProviderFailure) {
        do throws(ProviderFailure) {
            try succeeding { secret_item_delete_sync(item.pointer, watchdog.cancellable, $0) }
        } catch  where error.isMissingObject {
            return
        }
    }

    static func table(_ attributes: [String: String]) throws(ProviderFailure) -> AttributeTable {
        guard let table = AttributeTable(attributes) else {
            throw .found(StoreError(.broken, detail: "an attribute holds a NUL"))
        }
        return table
    }
}
