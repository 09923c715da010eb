internal import CSecret

extension KeyringSession {
    /// Creates an item in the configured collection, or where `replacing` in place of one with *at least* its attributes.
    ///
    /// The attributes name the schema.
    func create(
        _ attributes: [String: String], label: String, _ content: borrowing SecretContent, replacing: Bool = true
    ) throws(ProviderFailure) {
        let table = try AttributeTable(attributes)
        let service = try provider.service(watchdog)
        guard !replacing else {
            try succeeding {
                secret_service_store_sync(
                    service, nil, table.pointer, configuration.collection.rawValue, label, content.pointer,
                    watchdog.cancellable, $0)
            }
            return
        }
        let collection = try calling {
            secret_collection_for_alias_sync(
                service, configuration.collection.rawValue, SECRET_COLLECTION_NONE, watchdog.cancellable, $0)
        }
        guard let collection = GRef(owned: collection) else { throw .found(StoreError(.noDefaultCollection)) }
        let item = try calling {
            secret_item_create_sync(
                collection.pointer, nil, table.pointer, label, content.pointer, SECRET_ITEM_CREATE_NONE,
                watchdog.cancellable, $0)
        }
        guard GRef(owned: item) != nil else { throw .found(StoreError(.broken, detail: "no item was made")) }
    }

    /// Replaces an item's secret.
    func replaceSecret(of item: KeyringItem, _ content: borrowing SecretContent) throws(ProviderFailure) {
        let service = try provider.service(watchdog)
        let pointer = try calling {
            secret_item_new_for_dbus_path_sync(
                service, item.path, SECRET_ITEM_NONE, watchdog.cancellable, $0)
        }
        guard let item = GRef(owned: pointer) else { throw .found(StoreError(.broken, detail: "no item")) }
        try succeeding { secret_item_set_secret_sync(item.pointer, content.pointer, watchdog.cancellable, $0) }
    }

    /// Deletes an item; one that is gone already is deleted too.
    func delete(_ item: KeyringItem) throws(ProviderFailure) {
        do throws(ProviderFailure) {
            let service = try provider.service(watchdog)
            try succeeding {
                secret_service_delete_item_dbus_path_sync(service, item.path, watchdog.cancellable, $0)
            }
        } catch  where error.isMissingObject {
            return
        }
    }
}
