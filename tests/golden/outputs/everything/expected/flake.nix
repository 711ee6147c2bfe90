# Made by envspec. Change the spec and run `envspec compile`, not this file.
{
  description = "The environment of Every_Thing, from spec.env";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/a5cc6f2c37bf518436dc8d1c288ccd0c43c2f4c4";

  outputs = { self, nixpkgs }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      python = pkgs.python311;

      # Every wheel of requirements.lock, known by its sha256.
      wheels = [
        { index = "pypi"; file = "nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "5d44eebba4d4f46a5fb32c9205ed12bd858767ad834b3a0334d664035e659cc5"; pypi = { pname = "nvidia_cublas_cu12"; version = "12.8.4.1"; dist = "py3"; python = "py3"; abi = "none"; platform = "manylinux_2_27_x86_64"; }; }
        { index = "pypi"; file = "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "57c650ad14224c77e8ba4919a99c945d5b0428477f5e597544cefe6f966fe3e5"; pypi = { pname = "torch"; version = "2.9.1"; dist = "cp311"; python = "cp311"; abi = "cp311"; platform = "manylinux_2_28_x86_64"; }; }
        { index = "lab"; file = "lab_kit-1.0-py3-none-any.whl"; sha256 = "c76164365f2e3421776c8d98b613d7e085bbf4023e15055ef398a58bcfc0a25a"; }
        { index = "pypi"; file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl"; sha256 = "2beb88a9ade88bbe38b44225bb26bad04b61c015a63adda3651d1970a9f93e1f"; pypi = { pname = "numpy"; version = "2.4.6"; dist = "cp311"; python = "cp311"; abi = "cp311"; platform = "manylinux_2_27_x86_64"; }; }
      ];
      source = { index = ""; file = "every-1.0.tar.gz"; sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; };

      # A file of an index that nixpkgs cannot ask: `envspec fetch` and `nix-store --add-fixed
      # sha256 FILE` bring it into the store.
      given = file: pkgs.requireFile {
        name = file.file;
        sha256 = file.sha256;
        message = "run: envspec fetch spec.env -o wheels, then nix-store --add-fixed sha256 on " + file.file;
      };
      fetch = wheel:
        if wheel ? pypi
        then python.pkgs.fetchPypi (wheel.pypi // { format = "wheel"; sha256 = wheel.sha256; })
        else given wheel;

      wheelhouse = pkgs.runCommand "wheels" { } ''
        mkdir $out
        ${builtins.concatStringsSep "\n" (map (w: "ln -s ${fetch w} $out/${w.file}") wheels)}
      '';

      environment = pkgs.stdenv.mkDerivation {
        pname = "Every_Thing";
        version = "env";
        dontUnpack = true;
        dontStrip = true;
        nativeBuildInputs = [ python pkgs.uv pkgs.autoPatchelfHook ];
        buildInputs = [ pkgs.stdenv.cc.cc.lib ];
        # The driver's own libraries come from the host at run time.
        autoPatchelfIgnoreMissingDeps = [ "libcuda.so.1" "libnvidia-ml.so.1" ];
        installPhase = ''
          ${python}/bin/python -m venv --without-pip $out
          export HOME=$TMPDIR
          uv pip install --offline --no-index --no-deps --no-cache --no-config --require-hashes \
            --find-links ${wheelhouse} --python $out/bin/python --requirements ${./requirements.lock}
        '';
      };
    in
    {
      packages.${system}.default = environment;
      devShells.${system}.default = pkgs.mkShell {
        packages = [ environment ];
        env = {
          "HF_HUB_OFFLINE" = "1";
          "GREETING" = "it's \$HOME, \"said\" \\ `id` \${x}";
        };
      };
    };
}
