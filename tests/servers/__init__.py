"""Real servers for tests, on free loopback ports; each ends with the test run, even with a killed one."""
