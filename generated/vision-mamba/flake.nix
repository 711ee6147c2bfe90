# Made by envspec. Change the spec and run `envspec compile`, not this file.
#
# Wheels come from their index where nixpkgs can ask it. For all of them, and without network:
#   envspec fetch spec.env -o wheels
#   nix build --override-input wheels path:./wheels path:FOLDER-OF-THIS-FILE
# Wherever a file comes from, it is the one with the sha256 below.
{
  description = "The environment of vision-mamba, from spec.env";

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
        "framework" = [
          { file = "cuda_bindings-13.5.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "08b7e8d674c3266facb00453a7e34ea7d3ea965c2f594bb728f269f45f39fbe2"; index = "pypi"; }
          { file = "cuda_pathfinder-1.9.1-py3-none-any.whl"; sha256 = "b743c132f90ad2d1e71d43fd28f31ebcde518f943e50fd44aca62b2a80d5230d"; index = "pypi"; }
          { file = "cuda_toolkit-13.0.3.0-py2.py3-none-any.whl"; sha256 = "d693caaa261214ddd7dbb60d68e71cbed884e68c2be7509778f3051da0b91c3f"; index = "pypi"; }
          { file = "nvidia_cublas-13.1.1.3-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436"; index = "pypi"; }
          { file = "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl"; sha256 = "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8"; index = "pypi"; }
          { file = "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl"; sha256 = "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575"; index = "pypi"; }
          { file = "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548"; index = "pypi"; }
          { file = "nvidia_cudnn_cu13-9.24.0.43-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "71f181cd810e90f9b6023b01186fe82d13d65f0ec098581ee201d39fad769e4b"; index = "pypi"; }
          { file = "nvidia_cufft-12.0.0.61-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3"; index = "pypi"; }
          { file = "nvidia_cufile-1.15.1.6-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44"; index = "pypi"; }
          { file = "nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc"; index = "pypi"; }
          { file = "nvidia_cusolver-12.0.4.66-py3-none-manylinux_2_27_x86_64.whl"; sha256 = "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112"; index = "pypi"; }
          { file = "nvidia_cusparse-12.6.3.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b"; index = "pypi"; }
          { file = "nvidia_cusparselt_cu13-0.8.1-py3-none-manylinux2014_x86_64.whl"; sha256 = "786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0"; index = "pypi"; }
          { file = "nvidia_nccl_cu13-2.30.7-py3-none-manylinux_2_18_x86_64.whl"; sha256 = "cefa7fdb9710efd0f39c5f1be1d61ff6fc9a996c451265bd7fbdcf9455ed4b50"; index = "pypi"; }
          { file = "nvidia_nvjitlink-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl"; sha256 = "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb"; index = "pypi"; }
          { file = "nvidia_nvshmem_cu13-3.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80"; index = "pypi"; }
          { file = "nvidia_nvtx-13.0.85-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl"; sha256 = "4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4"; index = "pypi"; }
          { file = "torch-2.14.1-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "305a61f61f35f128579f299c5bd33d475f6a01c6307336139632e30856c4854d"; index = "pypi"; }
          { file = "torchvision-0.29.1-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "2cb678029a5dd45afbbfa662fce49736827d52be33242b5a8a731e0db02ccdf5"; index = "pypi"; }
          { file = "triton-3.8.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "68988ac85d5e7086baeda0ddc175af9667db7529b3c5e11a5c0601b8bef2200a"; index = "pypi"; }
        ];
        "packages" = [
          { file = "accelerate-1.15.0-py3-none-any.whl"; sha256 = "97eacca0b73e45cb867dbf8c5d5d4dc32219544300e0c8992c7334dc2ef33cec"; index = "pypi"; }
          { file = "aiohappyeyeballs-2.7.1-py3-none-any.whl"; sha256 = "9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472"; index = "pypi"; }
          { file = "aiohttp-3.14.5-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "50a195903119008fe9cc68710535eb37f556ffffd6a7759afe70a2c145587045"; index = "pypi"; }
          { file = "aiosignal-1.4.0-py3-none-any.whl"; sha256 = "053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e"; index = "pypi"; }
          { file = "anyio-4.16.0-py3-none-any.whl"; sha256 = "c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026"; index = "pypi"; }
          { file = "argparse-1.4.0-py2.py3-none-any.whl"; sha256 = "c31647edb69fd3d465a847ea3157d37bed1f95f19760b11a47aa91c04b666314"; index = "pypi"; }
          { file = "attrs-26.1.0-py3-none-any.whl"; sha256 = "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"; index = "pypi"; }
          { file = "beartype-0.23.1-py3-none-any.whl"; sha256 = "4461b4dc57e3fdd6c8a8464b22cf118002eea107c33e9fef651c69068ab3cce3"; index = "pypi"; }
          { file = "bitsandbytes-0.50.2-py3-none-manylinux_2_24_x86_64.whl"; sha256 = "55348a9a4a21bfd99cf8c7b32fe67b4030ae5c2a05738e03c1747f65fa6ec283"; index = "pypi"; }
          { file = "certifi-2026.10.19.post1-py3-none-any.whl"; sha256 = "1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2"; index = "pypi"; }
          { file = "charset_normalizer-3.5.3-cp311-cp311-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"; sha256 = "2a6f937e0b70133d1f826d0a253331b6fe1a4c874808cc12e16f2fb8177042f4"; index = "pypi"; }
          { file = "colt5_attention-0.11.2-py3-none-any.whl"; sha256 = "fd03b28ba55a6a3a03e63cbd5c2c414b3d886a6ee399766f659c77038280a489"; index = "pypi"; }
          { file = "contourpy-1.3.3-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "51e79c1f7470158e838808d4a996fa9bac72c498e93d8ebe5119bc1e6becb0db"; index = "pypi"; }
          { file = "cycler-0.12.1-py3-none-any.whl"; sha256 = "85cef7cff222d8644161529808465972e51340599459b8ac3ccbac5a854e0d30"; index = "pypi"; }
          { file = "datasets-5.0.1-py3-none-any.whl"; sha256 = "9fbf73688f8c18f7529b4fe592abd04015f81d1e58001e4bac73ffb2b39d7cc4"; index = "pypi"; }
          { file = "dill-0.4.1-py3-none-any.whl"; sha256 = "1e1ce33e978ae97fcfcff5638477032b801c46c7c65cf717f95fbc2248f79a9d"; index = "pypi"; }
          { file = "einops-0.8.2-py3-none-any.whl"; sha256 = "54058201ac7087911181bfec4af6091bb59380360f069276601256a76af08193"; index = "pypi"; }
          { file = "einops_exts-0.0.4-py3-none-any.whl"; sha256 = "6d310a4c858e459ebff8288580f90255d354cfa3bde22a53b59baae64b48cb95"; index = "pypi"; }
          { file = "einx-0.4.3-py3-none-any.whl"; sha256 = "47ce54a0144f6dffcfacdd8fe2cc9e2e5e6485dda2471330ab75ee747dd22f39"; index = "pypi"; }
          { file = "filelock-4.3.1-py3-none-any.whl"; sha256 = "79e43df8e9fe509cd83a3899a7c186c8077cbbe4d200a1ed3705c2f3bb6bc487"; index = "pypi"; }
          { file = "fonttools-4.68.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "4b9c89b5876f1a74b1341632dfaf4c4c2be565d76c060445df401ebe7a4ceefa"; index = "pypi"; }
          { file = "frozendict-2.5.1-py3-none-any.whl"; sha256 = "b6e602e286b912beca1e12615f50eda6c74646b440c8cfde34221adee6c98c5e"; index = "pypi"; }
          { file = "frozenlist-1.8.0-cp311-cp311-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"; sha256 = "2552f44204b744fba866e573be4c1f9048d6a324dfe14475103fd51613eb1d1f"; index = "pypi"; }
          { file = "fsspec-2026.6.0-py3-none-any.whl"; sha256 = "02e0b71817df9b2169dc30a16832045764def1191b43dcff5bb85bdee212d2a1"; index = "pypi"; }
          { file = "h11-0.16.0-py3-none-any.whl"; sha256 = "63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86"; index = "pypi"; }
          { file = "hf_xet-1.8.0-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d"; index = "pypi"; }
          { file = "httpcore-1.0.9-py3-none-any.whl"; sha256 = "2d400746a40668fc9dec9810239072b40b4484b640a8c38fd654a024c7a1bf55"; index = "pypi"; }
          { file = "httpx-0.28.1-py3-none-any.whl"; sha256 = "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad"; index = "pypi"; }
          { file = "huggingface_hub-0.36.2-py3-none-any.whl"; sha256 = "48f0c8eac16145dfce371e9d2d7772854a4f591bcb56c9cf548accf531d54270"; index = "pypi"; }
          { file = "hyper_connections-0.4.11-py3-none-any.whl"; sha256 = "92a8d24340ef6dbf2a356b1f2e74ebb877d680aa96afc6f9f1cff636ab2e55f0"; index = "pypi"; }
          { file = "idna-3.20-py3-none-any.whl"; sha256 = "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c"; index = "pypi"; }
          { file = "jinja2-3.1.6-py3-none-any.whl"; sha256 = "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"; index = "pypi"; }
          { file = "joblib-1.3.2-py3-none-any.whl"; sha256 = "ef4331c65f239985f3f2220ecc87db222f08fd22097a3dd5698f693875f8cbb9"; index = "pypi"; }
          { file = "kiwisolver-1.5.1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "95a02752aa032eef4aed01cda6d9b687c669bd0396bf4519eef8bba22a286720"; index = "pypi"; }
          { file = "local_attention-1.11.2-py3-none-any.whl"; sha256 = "8bbb03cef6a6f0b694de64f9ecd81886fd1e73ef367b57f02995b469ac52fd16"; index = "pypi"; }
          { file = "loguru-0.7.3-py3-none-any.whl"; sha256 = "31a33c10c8e1e10422bfd431aeb5d351c7cf7fa671e3c4df004162264b28220c"; index = "pypi"; }
          { file = "markdown_it_py-4.3.0-py3-none-any.whl"; sha256 = "7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa"; index = "pypi"; }
          { file = "markupsafe-3.0.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808"; index = "pypi"; }
          { file = "matplotlib-3.11.2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"; sha256 = "07d9b9fa60cd4c393692f50d0bb03123242ddf61c99bb0e95e75feb354e7c1a8"; index = "pypi"; }
          { file = "mdurl-0.1.2-py3-none-any.whl"; sha256 = "84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8"; index = "pypi"; }
          { file = "mpmath-1.3.0-py3-none-any.whl"; sha256 = "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"; index = "pypi"; }
          { file = "multidict-7.2.1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "3b7542fad2706595c1b1853b46f2c3c4ae5cc5a6252b7225f294d607a29e1bdf"; index = "pypi"; }
          { file = "multiprocess-0.70.19-py311-none-any.whl"; sha256 = "928851ae7973aea4ce0eaf330bbdafb2e01398a91518d5c8818802845564f45c"; index = "pypi"; }
          { file = "networkx-3.6.1-py3-none-any.whl"; sha256 = "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762"; index = "pypi"; }
          { file = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93"; index = "pypi"; }
          { file = "packaging-26.4-py3-none-any.whl"; sha256 = "81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2"; index = "pypi"; }
          { file = "pandas-3.1.1-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "4f1602f614bb83f443381dbcbb94c4ac764b2e50c8d6c965614c5cd83e328c47"; index = "pypi"; }
          { file = "pillow-13.0.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "a625df9a2a5597fa5e5266e01aefc82604bb85d291e3547981e863560d75da6c"; index = "pypi"; }
          { file = "propcache-0.5.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "6e9368e87a3efc285e559131092c5db643eb8e56de4ee42064d5baec22ef2bb5"; index = "pypi"; }
          { file = "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9"; index = "pypi"; }
          { file = "pyarrow-26.0.1-cp311-cp311-manylinux_2_28_x86_64.whl"; sha256 = "39cb0f2418282c24bea6ceda77b03e5a8f0a5766b63a8bf194d4e2a2c423548c"; index = "pypi"; }
          { file = "pygments-2.21.0-py3-none-any.whl"; sha256 = "2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9"; index = "pypi"; }
          { file = "pyparsing-3.3.3-py3-none-any.whl"; sha256 = "ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4"; index = "pypi"; }
          { file = "python_dateutil-4.0.0-py3-none-any.whl"; sha256 = "a5e246f79eb80475e691bf93862cead98decd8a498cf53ba0516fcdc0f50dc1c"; index = "pypi"; }
          { file = "pyyaml-6.0.4-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee"; index = "pypi"; }
          { file = "regex-2026.11.19-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "86d3b2ea69b3c56df3e8ddbac6cd98eaf5a8c5b5e7e006897ebdf7a28d6818e6"; index = "pypi"; }
          { file = "requests-2.34.2-py3-none-any.whl"; sha256 = "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"; index = "pypi"; }
          { file = "rich-15.0.0-py3-none-any.whl"; sha256 = "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb"; index = "pypi"; }
          { file = "safetensors-0.8.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; sha256 = "fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774"; index = "pypi"; }
          { file = "scikit_learn-1.5.2-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; sha256 = "f8b0ccd4a902836493e026c03256e8b206656f91fbcc4fde28c57a5b752561f1"; index = "pypi"; }
          { file = "scipy-1.17.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4"; index = "pypi"; }
          { file = "setuptools-84.2.1-py3-none-any.whl"; sha256 = "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2"; index = "pypi"; }
          { file = "sympy-1.14.0-py3-none-any.whl"; sha256 = "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"; index = "pypi"; }
          { file = "threadpoolctl-3.8.0-py3-none-any.whl"; sha256 = "f1b49c82704d50f13ffae019c727b0fa4f6791a58f48f06a09c45face1be66da"; index = "pypi"; }
          { file = "tokenizers-0.22.2-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"; sha256 = "369cc9fc8cc10cb24143873a0d95438bb8ee257bb80c71989e3ee290e8d72c67"; index = "pypi"; }
          { file = "torch_einops_utils-0.2.0-py3-none-any.whl"; sha256 = "e8b058190577299ada12c15a71e0e1c3551ef3536dee3c491bd6bd74595ef460"; index = "pypi"; }
          { file = "tqdm-4.70.1-py3-none-any.whl"; sha256 = "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73"; index = "pypi"; }
          { file = "transformers-4.57.6-py3-none-any.whl"; sha256 = "4c9e9de11333ddfe5114bc872c9f370509198acf0b87a832a0ab9458e2bd0550"; index = "pypi"; }
          { file = "typing_extensions-4.16.0-py3-none-any.whl"; sha256 = "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"; index = "pypi"; }
          { file = "tzdata-2026.6-py2.py3-none-any.whl"; sha256 = "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec"; index = "pypi"; }
          { file = "urllib3-2.8.0-py3-none-any.whl"; sha256 = "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"; index = "pypi"; }
          { file = "vector_quantize_pytorch-1.32.0-py3-none-any.whl"; sha256 = "4c896ebe38a584f31da5ce747c9d95ddf26b178cfc751dcbc844841a93282ed5"; index = "pypi"; }
          { file = "xxhash-4.1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "5e713f5db9e1a8aafac59a45cc1ffce11ca507730f5dc12e212ea7b73d9debde"; index = "pypi"; }
          { file = "yarl-1.25.1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl"; sha256 = "d5add7b4ca7afeea91d52e4d4e4db3b1fe9885b71f07054560d8c4296b7441a2"; index = "pypi"; }
          { file = "zetascale-2.8.8-py3-none-any.whl"; sha256 = "7fbe74e235dae1985ba777a2101a6d9fcd13df80c9d5fa0a583b4c80aeb230f7"; index = "pypi"; }
        ];
        "source" = [
          { file = "vision_mamba-0.1.0.tar.gz"; sha256 = "acb7c01d794daff3d05ecd6d8852150e8c8d269d65002f258c3ef3d241ec5edf"; index = "pypi"; }
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
      absent = [ "libcuda.so.1" "libcudadebugger.so.1" "libfabric.so.1" "libibverbs.so.1" "libmlx5.so.1" "libmpi.so.40" "libnvcuvid.so.1" "libnvidia-encode.so.1" "libnvidia-ml.so.1" "libnvidia-nvvm.so.4" "libnvidia-ptxjitcompiler.so.1" "libnvoptix.so.1" "liboshmem.so.40" "libpmix.so.2" "librdmacm.so.1" "libucp.so.0" "libucs.so.0" ];
      driver = "${pkgs.addDriverRunpath.driverLink}/lib";

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
        name = "vision-mamba";
        list = ./requirements.lock;
        folders = [ "framework" "packages" ];
        compiled = [
        ];
      };

      # The variables of the image, with the folders where they are here.
      variables = source: {
        "VIRTUAL_ENV" = "${environment}";
        "PYTHONPATH" = "${source}";
        "NVIDIA_VISIBLE_DEVICES" = "all";
        "NVIDIA_DRIVER_CAPABILITIES" = "compute,utility";
        "NVIDIA_REQUIRE_CUDA" = "driver>=580.65.06";
      };

      # The code under test, and what the steps of the spec leave in its folder. They see the
      # environment read-only, and no network.
      source = pkgs.stdenv.mkDerivation {
        pname = "vision-mamba";
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
      ];

      # Programs beside the spec, each known by its sha256.
      scripts = pkgs.runCommand "entries" { } ''
        mkdir $out
        install -D -m 0444 ${pkgs.runCommand "script" {
          outputHashAlgo = "sha256";
          outputHashMode = "flat";
          outputHash = "b2abbff4e22d90efa8ba17b469335c46abf8719ae3af0822469d5e5e9add759b";
          content = "IiIiQSBmb3J3YXJkIHBhc3Mgb2YgYSBzbWFsbCB2aXNpb24tbWFtYmEgbW9kZWwsIG9uIENQVS4iIiIKCmltcG9ydCB0b3JjaApmcm9tIHZpc2lvbl9tYW1iYSBpbXBvcnQgVmltCgp0b3JjaC5tYW51YWxfc2VlZCgwKQptb2RlbCA9IFZpbSgKICAgIGRpbT0zMiwKICAgIGR0X3Jhbms9OCwKICAgIGRpbV9pbm5lcj0zMiwKICAgIGRfc3RhdGU9MTYsCiAgICBudW1fY2xhc3Nlcz0xMCwKICAgIGltYWdlX3NpemU9MzIsCiAgICBwYXRjaF9zaXplPTE2LAogICAgY2hhbm5lbHM9MywKICAgIGRyb3BvdXQ9MC4wLAogICAgZGVwdGg9MSwKKQp3aXRoIHRvcmNoLm5vX2dyYWQoKToKICAgIG91dCA9IG1vZGVsKHRvcmNoLnJhbmRuKDEsIDMsIDMyLCAzMikpCmFzc2VydCBvdXQuc2hhcGUgPT0gKDEsIDEwKSwgb3V0LnNoYXBlCnByaW50KGYib3V0cHV0IG9mIHNoYXBlIHt0dXBsZShvdXQuc2hhcGUpfSIpCg==";
          passAsFile = [ "content" ];
        } ''base64 --decode "$contentPath" > $out''} $out/${escapeShellArg "forward.py"}
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
        "forward" = program {
          name = "forward";
          timeout = "600";
          environment = { "LANG" = "C.UTF-8"; "PYTHONDONTWRITEBYTECODE" = "1"; "GLOO_SOCKET_IFNAME" = "lo"; "NCCL_SOCKET_IFNAME" = "lo"; "CUDA_VISIBLE_DEVICES" = ""; "NVIDIA_VISIBLE_DEVICES" = "void"; };
          argv = [ "python" "${scripts}/forward.py" ];
        };
      };

      # The environment as programs see it: each of its programs with the variables set.
      default = pkgs.runCommand "vision-mamba" { } ''
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
          name = "vision-mamba";
          tag = "ab4ef84b54de86ac";
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
            Env = [ "PATH=/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "VIRTUAL_ENV=/opt/env" "PYTHONPATH=/opt/src" "NVIDIA_VISIBLE_DEVICES=all" "NVIDIA_DRIVER_CAPABILITIES=compute,utility" "NVIDIA_REQUIRE_CUDA=driver>=580.65.06" ];
            Labels = { "org.opencontainers.image.title" = "vision-mamba"; "org.envspec.shm-size" = "1073741824"; };
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
          ${entries."forward"} || status=$?
          echo ${escapeShellArg "forward"}: status $status, 0 expected | tee -a $out
          [ $status -eq 0 ]
        '';
      };
    };
}
