// TokenAcquisition
