"""run_server.py SERVER PROOF OUT [FAULT...]: checks each fault by default options; OUT gets name, area, level, transport, found rules, seconds."""
import json,subprocess,sys,socket,time,os,tempfile
server,proof,out=sys.argv[1:4]; only=sys.argv[4:]
faults=[json.loads(l) for l in subprocess.run(["python3",server,"--list-faults"],capture_output=True,text=True).stdout.splitlines() if l.strip()]
def free():
    with socket.socket() as s: s.bind(("127.0.0.1",0)); return s.getsockname()[1]
def check(transport,fault):
    extra=["--fault",fault] if fault else []
    f=tempfile.mktemp(suffix=".json"); t=time.time(); q=None
    try:
        if transport=="http":
            port=free(); q=subprocess.Popen(["python3",server,"--http",str(port),*extra],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)
            for _ in range(200):
                try: socket.create_connection(("127.0.0.1",port),1).close(); break
                except OSError: time.sleep(.05)
            args=[f"http://127.0.0.1:{port}/mcp"]
        else: args=["--","python3",server,"--stdio",*extra]
        try: r=subprocess.run([proof,"check","--format","json","--output",f,*args],capture_output=True,text=True,timeout=200); code=r.returncode; err=r.stderr
        except subprocess.TimeoutExpired: return {"TIMEOUT"},"timeout",time.time()-t,""
    finally:
        if q: q.kill(); q.wait()
    try: rep=json.load(open(f)); os.unlink(f)
    except Exception: return set(),code,time.time()-t,err
    rules={x["rule"] for x in rep["results"] if x["outcome"] in ("fail","warn")}
    return rules,code,time.time()-t,""
base={}
for tr in ("stdio","http"):
    base[tr]=set()
    b,code,sec,err=check(tr,None); base[tr]|=b; print("base",tr,code,sorted(b),round(sec,1),err[-300:],flush=True)
with open(out,"a") as o:
    for x in faults:
        if only and x["name"] not in only: continue
        tr="http" if "http" in x["transports"] else "stdio"
        b,code,sec,err=check(tr,x["name"]); new=sorted(b-base[tr])
        print("\t".join([x["name"],x["area"],x["level"],tr,str(code),"found" if new or (code not in(0,1) and not b) else "MISSED",",".join(new) or err.strip().replace("\n"," | ")[-160:],f"{sec:.1f}"]),file=o,flush=True)
