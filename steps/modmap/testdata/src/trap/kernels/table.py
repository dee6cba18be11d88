from trap.util.paths import join
