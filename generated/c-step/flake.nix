# Made by envspec. Change the spec and run `envspec compile`, not this file.
#
# Wheels come from their index where nixpkgs can ask it. For all of them, and without network:
#   envspec fetch spec.env -o wheels
#   nix build --override-input wheels path:./wheels path:FOLDER-OF-THIS-FILE
# Wherever a file comes from, it is the one with the sha256 below.
#
# Not in here: packages of the image's distribution, which nixpkgs does not know by
# these names. What manylinux wheels may expect of a machine is in `libraries`.
#   spec.env:19 gcc libc6-dev
{
  description = "The environment of c-step, from spec.env";

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
          { file = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; sha256 = "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"; index = "pypi"; }
        ];
        "packages" = [
          { file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93"; index = "pypi"; }
        ];
        "source" = [
          { file = "c-step.tar"; sha256 = "c7106c9dacd384cc43287f7ad4de7653a2b539576105880cbd9bfdc6055c509e"; index = ""; }
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
      absent = [ ];

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
        appendRunpaths = [ "$ORIGIN" ];
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
            fi
          done
          autoPatchelf -- $out
        '';
      };

      environment = environmentOf {
        name = "c-step";
        list = ./requirements.lock;
        folders = [ "packages" ];
        compiled = [
        ];
      };

      # The variables of the image, with the folders where they are here.
      variables = source: {
        "VIRTUAL_ENV" = "${environment}";
        "PYTHONPATH" = "${source}";
      };

      # The code under test, and what the steps of the spec leave in its folder. They see the
      # environment read-only, and no network.
      source = pkgs.stdenv.mkDerivation {
        pname = "c-step";
        version = "source";
        dontUnpack = true;
        dontFixup = true;
        nativeBuildInputs = [ ];
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
        # spec.env:22 step compile
        [ "gcc" "-O2" "-shared" "-fPIC" "-o" "libdistance.so" "distance.c" ]
      ];

      # Programs beside the spec, each known by its sha256.
      scripts = pkgs.runCommand "entries" { } ''
        mkdir $out
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
          timeout = "120";
          environment = { "LANG" = "C.UTF-8"; "PYTHONDONTWRITEBYTECODE" = "1"; "GLOO_SOCKET_IFNAME" = "lo"; "NCCL_SOCKET_IFNAME" = "lo"; "CUDA_VISIBLE_DEVICES" = ""; };
          argv = [ "python" "smoke.py" ];
        };
      };

      # The environment as programs see it: each of its programs with the variables set.
      default = pkgs.runCommand "c-step" { } ''
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
          name = "c-step";
          tag = "50b539c4fdfa6baa";
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
            Env = [ "PATH=/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "VIRTUAL_ENV=/opt/env" "PYTHONPATH=/opt/src" ];
            Labels = { "org.opencontainers.image.title" = "c-step"; "org.envspec.shm-size" = "1073741824"; };
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
