# Stands for nixpkgs: the few names that a generated flake takes from it, over the machine's own
# programs. `machine.nix` beside it says where those are.
{
  outputs = { self }: {
    legacyPackages.x86_64-linux = import ./. { system = "x86_64-linux"; };
  };
}
