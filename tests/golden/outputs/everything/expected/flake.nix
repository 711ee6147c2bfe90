# Made by envspec. Change the spec and run `envspec compile`, not this file.
#
# Wheels come from their index where nixpkgs can ask it. For all of them, and without network:
#   envspec fetch spec.env -o wheels
#   nix build --override-input wheels path:./wheels path:FOLDER-OF-THIS-FILE
# Wherever a file comes from, it is the one with the sha256 below.
#
# Not in here: packages of the image's distribution, which nixpkgs does not know by
# these names. What manylinux wheels may expect of a machine is in `libraries`.
#   spec.env:28 libgl1
#   spec.env:29 ninja-build
{
  description = "The environment of Every_Thing, from spec.env";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/a5cc6f2c37bf518436dc8d1c288ccd0c43c2f4c4";
  # What `envspec fetch` wrote. It follows nixpkgs, which holds no such files, until it is overridden.
  inputs.wheels = {
    flake = false;
    follows = "nixpkgs";
  };

  outputs = { self, nixpkgs, wheels }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      inherit (pkgs.lib) concatMapStringsSep escapeShellArg escapeShellArgs removeSuffix;
      python = pkgs.python311;
      interpreter = "${python}/bin/python3.11";

      # Every file by the folder that `envspec fetch` puts it in, known by its sha256.
      files = {
        "tools" = [
          { file = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.whl"; sha256 = "f04219d65817b5bd0dff7c9ee2ebf7d89c4159f105f0647c17c93aa510ce6e96"; index = "pypi"; }
        ];
        "framework" = [
          { file = "nvidia_cublas_cu12-12.8.4.1-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "5d44eebba4d4f46a5fb32c9205ed12bd858767ad834b3a0334d664035e659cc5"; index = "pypi"; }
          { file = "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "57c650ad14224c77e8ba4919a99c945d5b0428477f5e597544cefe6f966fe3e5"; index = "pypi"; }
        ];
        "packages" = [
          { file = "lab_kit-1.0-py3-none-any.whl"; sha256 = "c76164365f2e3421776c8d98b613d7e085bbf4023e15055ef398a58bcfc0a25a"; index = "lab"; }
          { file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl"; sha256 = "2beb88a9ade88bbe38b44225bb26bad04b61c015a63adda3651d1970a9f93e1f"; index = "pypi"; }
        ];
        "source" = [
          { file = "every-1.0.tar.gz"; sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; index = ""; }
        ];
      };

      # One file: from the folder of wheels, else from an index that nixpkgs can ask by name.
      fetch = folder: file:
        let
          given = "${wheels}/${folder}/${file.file}";
          name = file.name or file.file;
          wheel = builtins.match ".*[.]whl" file.file != null;
          archive = builtins.match ".*[.]tar[.]gz" file.file != null;
          parts = builtins.filter builtins.isString
            (builtins.split "-" (removeSuffix (if wheel then ".whl" else ".tar.gz") file.file));
          part = builtins.elemAt parts;
          known = file.index == "pypi" && !(file ? name);
        in
        if builtins.pathExists given
        then builtins.path { inherit name; path = given; recursive = false; sha256 = file.sha256; }
        else if known && wheel && builtins.length parts == 5
        then python.pkgs.fetchPypi {
          format = "wheel";
          pname = part 0;
          version = part 1;
          dist = part 2;
          python = part 2;
          abi = part 3;
          platform = part 4;
          sha256 = file.sha256;
        }
        else if known && archive && builtins.length parts == 2
        then python.pkgs.fetchPypi { pname = part 0; version = part 1; sha256 = file.sha256; }
        else pkgs.requireFile {
          inherit name;
          sha256 = file.sha256;
          message = "run: envspec fetch spec.env -o wheels, and add to the command: --override-input wheels path:./wheels";
        };
      only = folder: fetch folder (builtins.head files.${folder});
      links = folder: pkgs.runCommand "wheels" { } ''
        mkdir $out
        ${concatMapStringsSep "\n"
          (file: "ln -s ${fetch folder file} $out/${escapeShellArg file.file}") files.${folder}}
      '';

      # What manylinux wheels may expect of every machine.
      libraries = pkgs.pythonManylinuxPackages.manylinux2014;
      # Libraries of the driver, which only the machine can have, and those of hardware and programs
      # that some wheels load if they are there.
      absent = [ "libcuda.so.1" "libcudadebugger.so.1" "libnvcuvid.so.1" "libnvidia-encode.so.1" "libnvidia-ml.so.1" "libnvidia-nvvm.so.4" "libnvidia-ptxjitcompiler.so.1" "libnvoptix.so.1" ];
      driver = "${pkgs.addDriverRunpath.driverLink}/lib";
      # The toolkit is unfree, and taken only to compile.
      cuda = (import nixpkgs { inherit system; config.allowUnfree = true; }).cudaPackages_12_8 or
        (throw "this nixpkgs has no CUDA 12.8 to compile with");

      # A command with variables, as one line of a shell.
      invoke = variables: argv:
        let words = map (n: "${n}=${variables.${n}}") (builtins.attrNames variables);
        in escapeShellArgs ([ "${pkgs.coreutils}/bin/env" ] ++ words ++ argv);
      unpack = archive: folder:
        "tar --extract --file ${archive} --directory ${folder} --strip-components=1 --no-same-owner";

      # The installer is a locked wheel as well.
      installer = pkgs.stdenv.mkDerivation {
        pname = "uv";
        version = "0.13.9";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ pkgs.autoPatchelfHook ];
        buildInputs = libraries;
        installPhase = ''
          ${interpreter} -m zipfile -e ${only "tools"} unpacked
          install -D -m 0755 unpacked/*.data/scripts/uv $out/bin/uv
          autoPatchelf -- $out
        '';
      };

      # A virtual environment with every wheel of a list. Nothing is changed in it but what ELF
      # files say of where libraries are.
      environmentOf = { name, list, folders, compiled ? [ ] }: pkgs.stdenv.mkDerivation {
        pname = name;
        version = "env";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ pkgs.autoPatchelfHook ];
        buildInputs = libraries;
        autoPatchelfIgnoreMissingDeps = absent;
        appendRunpaths = [ "$ORIGIN" driver ];
        installPhase = ''
          export HOME=$TMPDIR
          uv="${installer}/bin/uv --offline --no-cache --no-config"
          $uv venv --quiet --no-project --python ${interpreter} $out
          $uv pip install --quiet --no-index --no-deps --require-hashes --python $out/bin/python \
            ${concatMapStringsSep " " (folder: "--find-links ${links folder}") folders} \
            --requirements ${list}
          ${concatMapStringsSep "\n" (extension: ''
            $uv pip install --quiet --no-index --no-deps --prerelease allow \
              --python $out/bin/python --find-links ${extension.wheel} ${escapeShellArg extension.name}
          '') compiled}
          # uv's note on when a wheel's file was last changed, and the line about it in RECORD.
          find $out/lib -path '*.dist-info/uv_cache.json' \
            -execdir sed -i '/[.]dist-info.uv_cache[.]json,/d' RECORD ';' -delete
          # Libraries that wheels load by name from each other's folders.
          for folder in $out/lib/python3.11/site-packages/{nvidia/*/lib,torch/lib,*.libs}; do
            if [ -d "$folder" ]; then
              addAutoPatchelfSearchPath "$folder"
              appendRunpaths="$appendRunpaths $folder"
            fi
          done
          autoPatchelf -- $out
        '';
      };

      environment = environmentOf {
        name = "every-thing-fb24a5fa";
        list = ./requirements.lock;
        folders = [ "framework" "packages" ];
        compiled = [
        ];
      };

      # The variables of the image, with the folders where they are here.
      variables = source: {
        "VIRTUAL_ENV" = "${environment}";
        "PYTHONPATH" = "${source}/src:${source}";
        "NVIDIA_VISIBLE_DEVICES" = "all";
        "NVIDIA_DRIVER_CAPABILITIES" = "compute,utility";
        "NVIDIA_REQUIRE_CUDA" = "driver>=525.60.13";
        "HF_HUB_OFFLINE" = "1";
        "GREETING" = "it's \$HOME, \"said\" \\ `id` \${x}";
      };

      # The code under test, and what the steps of the spec leave in its folder. They see the
      # environment read-only, and no network.
      source = cuda.backendStdenv.mkDerivation {
        pname = "every-thing-fb24a5fa";
        version = "source";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ cuda.cudatoolkit ];
        installPhase =
          let source = placeholder "out"; in ''
            export HOME=$TMPDIR PYTHONDONTWRITEBYTECODE=1 PATH=${environment}/bin:$PATH
            mkdir $out
            ${unpack (only "source") "$out"}
            cd $out
            ${concatMapStringsSep "\n" (invoke (variables source)) (steps source)}
          '';
      };
      steps = source: [
        # spec.env:32 step compile
        [ "python" "setup.py" "build_ext" "--inplace" "\$HOME \"quoted\" \\ back" ]
      ];

      # Programs beside the spec, each known by its sha256.
      scripts = pkgs.runCommand "entries" { } ''
        mkdir $out
        install -D -m 0444 ${pkgs.runCommand "script" {
          outputHashAlgo = "sha256";
          outputHashMode = "flat";
          outputHash = "b80792336156c7b0f7fe02eeef24610d2d52a10d1810397744471d1dc5738180";
          content = "cHJpbnQoImhlbGxvIikK";
          passAsFile = [ "content" ];
        } ''base64 --decode "$contentPath" > $out''} $out/${escapeShellArg "smoke.py"}
      '';

      # An entry as a program: its command in the source folder, a time limit, a folder of its own
      # for what it writes. Its exit status is that of the command.
      program = { name, timeout, environment, argv }: pkgs.writeShellScript name ''
        scratch=$(${pkgs.coreutils}/bin/mktemp -d) || exit 1
        trap '${pkgs.coreutils}/bin/rm -rf "$scratch"' EXIT
        cd ${source} || exit 1
        export PATH=${path}:$PATH HOME=$scratch TMPDIR=$scratch
        ${invoke (variables source // environment) ([ "timeout" timeout ] ++ argv)} "$@"
      '';
      path = "${environment}/bin:${pkgs.coreutils}/bin";
      entries = {
        "smoke" = program {
          name = "smoke";
          timeout = "90";
          environment = { "LANG" = "C.UTF-8"; "PYTHONDONTWRITEBYTECODE" = "1"; "GLOO_SOCKET_IFNAME" = "lo"; "NCCL_SOCKET_IFNAME" = "lo"; "CUDA_VISIBLE_DEVICES" = ""; "NVIDIA_VISIBLE_DEVICES" = "void"; "HF_HUB_OFFLINE" = "1"; "GREETING" = "it's \$HOME, \"said\" \\ `id` \${x}"; "SEED" = "0"; };
          argv = [ "python" "${scripts}/smoke.py" "--steps" "1" ];
        };
        "ddp" = program {
          name = "ddp";
          timeout = "600";
          environment = { "LANG" = "C.UTF-8"; "PYTHONDONTWRITEBYTECODE" = "1"; "GLOO_SOCKET_IFNAME" = "lo"; "NCCL_SOCKET_IFNAME" = "lo"; "HF_HUB_OFFLINE" = "1"; "GREETING" = "it's \$HOME, \"said\" \\ `id` \${x}"; };
          argv = [ "torchrun" "--nproc-per-node" "2" "train.py" ];
        };
      };

      # The environment as programs see it: each of its programs with the variables set.
      default = pkgs.runCommand "every-thing-fb24a5fa" { } ''
        mkdir -p $out/bin $out/libexec
        ln -s ${environment} $out/env
        ln -s ${source} $out/src
        ln -s ${start} $out/libexec/start
        for program in ${environment}/bin/*; do
          ln -s ../libexec/start "$out/bin/''${program##*/}"
        done
        # These are read by a shell, not run.
        rm -f $out/bin/activate* $out/bin/deactivate* $out/bin/pydoc.bat
      '';
      start = pkgs.writeShellScript "start" ''
        export PATH=${path}:$PATH PYTHONDONTWRITEBYTECODE=1
        exec ${invoke (variables source) [ ]} ${environment}/bin/"''${0##*/}" "$@"
      '';

      # C0, as far as Nix can tell: see docs/nix.md. It prints what it checked.
      c0 = pkgs.writeText "c0.py" ''
        """Whether every locked distribution is installed in its version, and modules load."""

        import importlib.metadata
        import json
        import os
        import pathlib
        import re
        import subprocess
        import sys

        LEFT_OUT = re.compile(r"(unit)?tests?|docs?|examples?|benchmarks?|scripts?|tools?")
        extensions = json.loads(sys.argv[2])
        wrong = []


        def canonical(name):
            return re.sub("[-_.]+", "-", name).lower()


        wanted = {canonical(e["name"]): e["version"] for e in extensions}
        for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, version = line.split(" ")[0].split("==")
                wanted[canonical(name)] = version
        site = [p for p in sys.path if p.startswith(sys.prefix) and p.endswith("site-packages")]
        found = {canonical(d.name): d.version for d in importlib.metadata.distributions(path=site)}
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                wrong.append(f"{name}: {wanted.get(name)} is locked, {found.get(name)} is installed")
        print(f"distributions: {len(wanted)} locked, {len(found)} installed, compared by name and version")

        modules = [m for e in extensions for m in e["modules"]]
        others = []
        for root in filter(None, os.environ.get("PYTHONPATH", "").split(":")):
            for path in sorted(pathlib.Path(root).iterdir()):
                if (path / "__init__.py").is_file() and path.name.isidentifier():
                    (others if LEFT_OUT.fullmatch(path.name) else modules).append(path.name)
                elif path.suffix == ".py":
                    others.append(path.name)
        for module in modules:
            command = [sys.executable, "-c", "import importlib, sys; importlib.import_module(sys.argv[1])"]
            done = subprocess.run([*command, module], stdin=subprocess.DEVNULL, stdout=2)
            if done.returncode:
                wrong.append(f"{module}: does not load")
        print(f"loaded, each in a process of its own: {' '.join(modules) or 'nothing'}")
        print(f"in the import roots, and not loaded: {' '.join(others) or 'nothing'}")
        print("not checked: whether files are what their RECORD says, imports inside functions, GPUs")
        print("\n".join(wrong) or "nothing is wrong")
        sys.exit(bool(wrong))
      '';
    in
    {
      packages.${system} = {
        inherit default environment source;

        # The image of the Dockerfile, without its base.
        image = pkgs.dockerTools.buildLayeredImage {
          name = "every-thing-fb24a5fa";
          tag = "a2f7b6358b4e5fb7";
          created = "1980-01-01T00:00:00Z";
          contents = [
            pkgs.bash
            pkgs.coreutils
            (pkgs.runCommand "layout" { } ''
              mkdir -p $out/opt/envspec
              ln -s ${environment} $out/opt/env
              ln -s ${source} $out/opt/src
              ln -s ${scripts} $out/opt/envspec/entries
            '')
          ];
          extraCommands = "mkdir -m 1777 tmp";
          config = {
            Env = [ "PATH=/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "VIRTUAL_ENV=/opt/env" "PYTHONPATH=/opt/src/src:/opt/src" "NVIDIA_VISIBLE_DEVICES=all" "NVIDIA_DRIVER_CAPABILITIES=compute,utility" "NVIDIA_REQUIRE_CUDA=driver>=525.60.13" "HF_HUB_OFFLINE=1" "GREETING=it's \$HOME, \"said\" \\ `id` \${x}" ];
            Labels = { "org.opencontainers.image.title" = "Every_Thing"; "org.envspec.shm-size" = "1073741824"; };
            User = "65534:65534";
            WorkingDir = "/opt/src";
            Cmd = [ "/opt/env/bin/python" ];
          };
        };
      };

      apps.${system} = builtins.mapAttrs
        (name: program: { type = "app"; program = "${program}"; })
        ({ default = "${default}/bin/python"; } // entries);

      devShells.${system}.default = pkgs.mkShell {
        packages = [ environment ];
        env = variables source;
      };

      checks.${system} = {
        c0 = pkgs.runCommand "c0" { } ''
          export HOME=$TMPDIR PYTHONDONTWRITEBYTECODE=1 PATH=${path}:$PATH
          cd ${source}
          ${invoke (variables source) ([
            "python" "${c0}" "${./requirements.lock}" (builtins.toJSON [ ])
          ])} > $out || { cat $out; exit 1; }
        '';
        c1 = pkgs.runCommand "c1" { } ''
          status=0
          ${entries."smoke"} || status=$?
          echo ${escapeShellArg "smoke"}: status $status, 0 expected | tee -a $out
          [ $status -eq 0 ]
        '';
      };
    };
}
