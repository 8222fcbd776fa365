"""Where a target runs: a process of its own and who watches over it, or this one."""
