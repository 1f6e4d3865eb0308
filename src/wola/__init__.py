"""Byzantine-robust federated learning under label skew."""
