package proc
