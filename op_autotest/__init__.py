"""The doors of op-autotest: what pytest and the shell call by a name that nobody else has.

The packages behind them are called by plain words, which a project may have as well; here it is found out and said.
"""
