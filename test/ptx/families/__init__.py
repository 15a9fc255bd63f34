"""The probes, one module per group of instructions; each adds its own with the helpers of ptx.py."""
