SELECT json_time(simulated_until) AS simulated_until FROM installation
