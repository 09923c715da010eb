/// The users file of a sandbox that is started without one.
enum DefaultUsers {
    static let password = "lanyard"

    static let text = """
        # Who can sign in to this sandbox, and to what. Nothing here is secret, nothing here is real.

        [[tenant]]
        id = "c0a70500-0000-4000-8000-00000c0a7050"
        domain = "contoso.example"
        name = "Contoso"
        kind = "organization"

        [[tenant]]
        id = "fab81ca0-0000-4000-8000-0000fab81ca0"
        domain = "fabrikam.example"
        name = "Fabrikam"
        kind = "organization"

        [[tenant]]    # nobody is a guest here
        id = "40874810-0000-4000-8000-000040874810"
        domain = "northwind.example"
        name = "Northwind"
        kind = "organization"

        [[tenant]]    # asks everybody for a second proof, guests too
        id = "7a115000-0000-4000-8000-00007a115000"
        domain = "tailspin.example"
        name = "Tailspin"
        kind = "organization"
        mfa = true

        [[tenant]]    # every personal Microsoft account lives in this one, as in the real world
        id = "9188040d-6c67-4c5b-b112-36a304b66dad"
        domain = "outlook.example"
        name = "Personal accounts"
        kind = "consumers"

        [[tenant]]
        id = "b2cb2cb2-0000-4000-8000-000000b2c0de"
        domain = "contosob2c.onmicrosoft.example"
        name = "Contoso customers"
        kind = "b2c"
        policies = ["B2C_1_susi", "B2C_1_edit", "B2C_1_reset", "customers"]

        [[user]]
        username = "alice@contoso.example"
        name = "Alice Archer"
        password = "\(password)"
        tenant = "contoso.example"
        id = "a11ce000-0000-4000-8000-00000000c0a7"
        guest = [
            { tenant = "fabrikam.example", id = "a11ce000-0000-4000-8000-00000000fab8" },
            { tenant = "tailspin.example", id = "a11ce000-0000-4000-8000-000000007a11" },
        ]

        [[user]]
        username = "bob@contoso.example"
        name = "Bob Baker"
        password = "\(password)"
        tenant = "contoso.example"
        id = "b0b00000-0000-4000-8000-00000000c0a7"

        [[user]]
        username = "carol@fabrikam.example"
        name = "Carol Cooper"
        password = "\(password)"
        tenant = "fabrikam.example"
        id = "ca801000-0000-4000-8000-00000000fab8"

        [[user]]
        username = "frank@northwind.example"
        name = "Frank Fisher"
        password = "\(password)"
        tenant = "northwind.example"
        id = "f8a4c000-0000-4000-8000-000000004087"

        [[user]]
        username = "dave@outlook.example"
        name = "Dave Dyer"
        password = "\(password)"
        tenant = "outlook.example"
        id = "00000000-0000-0000-da7e-0000000a11ce"

        [[user]]
        username = "erin@example.net"
        name = "Erin Ely"
        password = "\(password)"
        tenant = "contosob2c.onmicrosoft.example"
        id = "e8140000-0000-4000-8000-00000000b2c0"

        [[client]]
        id = "5a4d1b0c-7a0e-4c5b-9d2e-6c616e796172"
        name = "lanyard sandbox client"
        redirect-uris = ["http://localhost", "http://127.0.0.1"]
        permissions = [
            "api://sandbox-git/Repo.Read",
            "api://sandbox-git/Repo.Write",
            "https://graph.microsoft.com/User.Read",
        ]

        [[client]]    # two applications of one family: they may use each other's refresh tokens
        id = "fa311100-0000-4000-8000-0000000000a1"
        name = "family editor"
        redirect-uris = ["http://localhost", "http://127.0.0.1"]
        family = "1"
        preconsented = true

        [[client]]
        id = "fa311100-0000-4000-8000-0000000000b2"
        name = "family viewer"
        redirect-uris = ["http://localhost", "http://127.0.0.1"]
        family = "1"
        preconsented = true

        [[client]]    # one that every tenant of Entra has
        id = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
        name = "Azure CLI"
        redirect-uris = ["http://localhost"]
        family = "1"
        preconsented = true

        [[client]]    # one that is never granted what it asks for
        id = "dec11e00-0000-4000-8000-0000000000c3"
        name = "overreaching client"
        redirect-uris = ["http://localhost"]
        declines = ["Repo.Write"]

        [[client]]    # one that Conditional Access keeps from using the device code flow
        id = "ca000000-0000-4000-8000-0000000000d4"
        name = "client without device code"
        redirect-uris = ["http://localhost"]
        device-code = false

        [[client]]
        id = "8f3c2d1e-1b2a-4d3c-8e5f-6c616e796172"
        name = "lanyard sandbox B2C client"
        redirect-uris = ["http://localhost", "http://127.0.0.1"]
        tenant = "contosob2c.onmicrosoft.example"

        [[application]]    # signs in by itself, as a pipeline does
        id = "a9911ca7-0000-4000-8000-0000000000e5"
        name = "lanyard sandbox pipeline"
        tenant = "contoso.example"
        object = "a9911ca7-0000-4000-8000-00000000c0a7"
        secret = "lanyard-pipeline-secret"
        certificate = true    # application.pem beside this file
        subjects = ["repo:contoso/hello:ref:refs/heads/main"]
        roles = ["Repo.Read", "Repo.Write"]

        [[managed-identity]]    # a machine in Azure signs in by itself: its own identity, and one that was assigned to it
        name = "lanyard sandbox machine"
        tenant = "contoso.example"
        id = "3ac41e00-0000-4000-8000-0000000000f6"
        object = "3ac41e00-0000-4000-8000-00000000c0a7"
        resource-id = "/subscriptions/5ab5c000-0000-4000-8000-000000005ab5/resourceGroups/sandbox/providers/Microsoft.Compute/virtualMachines/machine"
        system = true
        roles = ["Repo.Read"]

        [[managed-identity]]
        name = "lanyard sandbox deployment"
        tenant = "contoso.example"
        id = "de970100-0000-4000-8000-0000000000a7"
        object = "de970100-0000-4000-8000-00000000c0a7"
        resource-id = "/subscriptions/5ab5c000-0000-4000-8000-000000005ab5/resourceGroups/sandbox/providers/Microsoft.ManagedIdentity/userAssignedIdentities/deployment"
        roles = ["Repo.Read", "Repo.Write"]

        [[resource]]
        id = "00000003-0000-0000-c000-000000000000"
        name = "Microsoft Graph"
        identifiers = ["https://graph.microsoft.com"]
        scopes = ["User.Read", "User.ReadBasic.All", "Mail.Read"]

        [[resource]]
        id = "61740000-0000-4000-8000-000000000917"
        name = "Sandbox git"
        identifiers = ["api://sandbox-git"]
        scopes = ["Repo.Read", "Repo.Write"]

        [[resource]]
        id = "499b84ac-1321-427f-aa17-267ca6975798"
        name = "Azure DevOps"
        identifiers = ["https://app.vssps.visualstudio.com"]
        scopes = ["user_impersonation", "vso.code_write"]

        [[resource]]
        id = "797f4846-ba00-4fd7-ba43-dac1f8f63013"
        name = "Azure Resource Manager"
        identifiers = ["https://management.core.windows.net", "https://management.azure.com"]
        scopes = ["user_impersonation"]

        [[resource]]
        id = "6a1c3f08-0000-4000-8000-0000000ac917"
        name = "Azure Container Registry"
        identifiers = ["https://containerregistry.azure.net"]
        scopes = ["user_impersonation"]

        [[resource]]
        id = "61740000-0000-4000-8000-0000000b2c17"
        name = "Sandbox git for customers"
        identifiers = ["https://contosob2c.onmicrosoft.example/sandbox-git"]
        scopes = ["Repo.Read", "Repo.Write"]
        tenant = "contosob2c.onmicrosoft.example"

        [[requirement]]    # asks for a second proof: a token that carries acrs=c1
        path = "/contoso/guarded.git"
        acrs = "c1"
        """
}
