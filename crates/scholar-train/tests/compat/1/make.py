import json,random,struct,os
random.seed(5)
H,M,P,L=8,16,24,1
vocab=["[PAD]","[UNK]","[CLS]","[SEP]"]+[f"w{i}" for i in range(20)]
os.makedirs("init",exist_ok=True)
json.dump({"model_type":"bert","hidden_act":"gelu","vocab_size":len(vocab),"hidden_size":H,"num_hidden_layers":L,"num_attention_heads":2,"intermediate_size":M,"max_position_embeddings":P,"type_vocab_size":2},open("init/config.json","w"))
json.dump({"version":"1.0","truncation":None,"padding":None,"added_tokens":[],"normalizer":None,"pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":None,"decoder":None,"model":{"type":"WordLevel","vocab":{w:i for i,w in enumerate(vocab)},"unk_token":"[UNK]"}},open("init/tokenizer.json","w"))
t={"embeddings.word_embeddings.weight":[len(vocab),H],"embeddings.position_embeddings.weight":[P,H],"embeddings.token_type_embeddings.weight":[2,H]}
def lin(n,r,c): t[n+".weight"]=[r,c]; t[n+".bias"]=[r]
norms=["embeddings.LayerNorm"]
for l in range(L):
    n=f"encoder.layer.{l}."
    for p in ("query","key","value"): lin(n+"attention.self."+p,H,H)
    lin(n+"attention.output.dense",H,H); lin(n+"intermediate.dense",M,H); lin(n+"output.dense",H,M)
    norms+=[n+"attention.output.LayerNorm",n+"output.LayerNorm"]
header={};data=b""
def put(n,s,v):
    global data
    b=struct.pack(f"<{len(v)}f",*v); header[n]={"dtype":"F32","shape":s,"data_offsets":[len(data),len(data)+len(b)]}; data+=b
for n,s in t.items():
    c=1
    for x in s:c*=x
    put(n,s,[random.gauss(0,.1) for _ in range(c)])
for n in norms: put(n+".weight",[H],[1.0]*H); put(n+".bias",[H],[0.0]*H)
h=json.dumps(header).encode(); h+=b" "*(-len(h)%8)
open("init/model.safetensors","wb").write(struct.pack("<Q",len(h))+h+data)
w=lambda n:" ".join(f"w{random.randrange(2,20)}" for _ in range(n))
with open("rows.jsonl","w") as f:
    for i in range(24):
        f.write(json.dumps({"query":w(3),"pos":["w0 "+w(3)],"neg":[w(4),w(4)]})+"\n")
open("train.toml","w").write('''# Written for the version of 23 November 2026, with the names that settings had then.
preset = "small"
init = "init"
rows = ["rows.jsonl"]
held_out_rows = 4
rejected_share = 0.5
threads = 1
precision = "f32"
store = "f32"
epochs = 100
max_steps = 60
batch = 2
accumulate = 2
warmup = 3
clip = 0.5
anchor = 0.25
reads = "apart"
group = 3
queue = 8
window = 16
delete = 0.2
max_tokens = 16
freeze_embeddings = false
freeze_layers = 0
evaluate_every = 10
checkpoint_every = 1
''')
