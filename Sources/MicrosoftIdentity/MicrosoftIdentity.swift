// MicrosoftIdentity
