#include <stdio.h>
#include <unistd.h>

int main(void) { return printf("Effective uid: %d\n", (int)geteuid()) < 0; }
